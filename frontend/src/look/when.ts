// Times of day and ages, as figures.
import { language } from '../text/i18n'
import { instant } from '../text/time'

/** The time of day; with the date when it was not today. */
export function clock(time: string | null | undefined, now: number = Date.now()): string {
  const at = instant(time)
  if (at === null) return ''
  const day = new Date(at), today = new Date(now)
  const sameDay = day.toDateString() === today.toDateString()
  const date: Intl.DateTimeFormatOptions = sameDay ? {} : { month: 'short', day: 'numeric' }
  return new Intl.DateTimeFormat(language(), { ...date, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(day)
}

/** The whole moment, for details. */
export function moment(time: string | null | undefined): string {
  const at = instant(time)
  return at === null ? '' : new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }).format(at)
}
