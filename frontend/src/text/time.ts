// Times as people say them, as catalogue keys with arguments. Nothing here looks at a clock: now comes in.

/** A sentence of the catalogue that is still to be put into a language. */
export interface Phrase {
  readonly key: string
  readonly args: Readonly<Record<string, string>>
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** In the last minute an expiry counts down. */
export const countdownFrom = minute

/** Reads a time of the wire. null: there is none. */
export function instant(time: string | null | undefined): number | null {
  if (time === undefined || time === null || time === '' || time.startsWith('0001-')) return null
  const ms = Date.parse(time)
  return Number.isNaN(ms) ? null : ms
}

/** How long ago something was. A time in the future, by a clock that differs a little, is now. */
export function relative(time: string | null | undefined, now: number): Phrase | null {
  const at = instant(time)
  if (at === null) return null
  const past = now - at
  if (past < minute) return { key: 'time.now', args: {} }
  if (past < hour) return { key: 'time.minutes', args: { n: String(Math.floor(past / minute)) } }
  if (past < day) return { key: 'time.hours', args: { n: String(Math.floor(past / hour)) } }
  return { key: 'time.days', args: { n: String(Math.floor(past / day)) } }
}

/** What is left until a time: seconds in the last minute, whole minutes or hours before. null: it never expires. */
export function left(time: string | null | undefined, now: number): Phrase | null {
  const at = instant(time)
  if (at === null) return null
  const rest = at - now
  if (rest <= 0) return { key: 'expiry.over', args: {} }
  if (rest <= countdownFrom) return { key: 'expiry.seconds', args: { n: String(Math.ceil(rest / second)) } }
  if (rest < hour) return { key: 'expiry.minutes', args: { n: String(Math.floor(rest / minute)) } }
  return { key: 'expiry.hours', args: { n: String(Math.floor(rest / hour)) } }
}

/** The time of day in the language and zone of the person. "" when there is no time. */
export function clock(time: string | null | undefined, locale?: string): string {
  const at = instant(time)
  return at === null ? '' : new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' }).format(at)
}

/** Whether a time is within its last minute, so that a countdown is on the screen. */
export function countsDown(time: string | null | undefined, now: number): boolean {
  const at = instant(time)
  return at !== null && at > now && at - now <= countdownFrom
}

/** How long the next change of a countdown to this time is away, in ms. null: nothing changes any more. */
export function untilChange(time: string | null | undefined, now: number): number | null {
  const at = instant(time)
  if (at === null || at <= now) return null
  const rest = at - now
  if (rest > countdownFrom) return rest - countdownFrom
  return rest % second === 0 ? second : rest % second
}
