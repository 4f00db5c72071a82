// When the page must look at the clock again: once a second while a countdown is on the screen, otherwise only so that
// "12 minutes ago" does not stand still. Nothing moves at rest.
import { untilChange } from '../text/time'
import type { DeskPause, Question } from '../wire/types.gen'

/** How often times like "12 minutes ago" are told anew, in ms. */
export const restingTick = 30_000

/** How long until now must be set again, in ms. */
export function untilTick(questions: readonly Question[], pause: DeskPause, now: number): number {
  let next = restingTick
  const times = questions.map((question) => question.expires_at)
  if (pause.paused) times.push(pause.until)
  for (const time of times) next = Math.min(next, untilChange(time, now) ?? next)
  return Math.max(next, 1)
}

/** Nobody can see the page: no time needs telling anew, and nothing counts as shown. */
export const pageHidden = (): boolean => typeof document !== 'undefined' && document.hidden
