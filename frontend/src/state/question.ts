// How two tellings of one question become one. The result does not depend on their order, so that a snapshot, a frame and
// an answer to get_question may arrive in any.
import { instant } from '../text/time'
import type { Question } from '../wire/types.gen'

function isClosed(question: Question): boolean {
  return question.state !== 'open'
}

/** Joins what two tellings of the same question know. Closed is final; a higher version is newer; within one version only
 * the first showing and the expiry change, and the expiry only moves away. A telling without detail was a brief one. */
export function joinQuestion(a: Question, b: Question): Question {
  if (isClosed(a) !== isClosed(b)) return withDetail(isClosed(a) ? a : b, isClosed(a) ? b : a)
  if (a.version !== b.version) return a.version > b.version ? withDetail(a, b) : withDetail(b, a)
  if (isClosed(a)) return withDetail(knowsEnd(a) || !knowsEnd(b) ? a : b, knowsEnd(a) || !knowsEnd(b) ? b : a)
  const joined: Question = { ...withDetail(b, a) }
  const shown = earlier(a.shown_at, b.shown_at)
  if (shown !== undefined) joined.shown_at = shown
  const expires = later(a.expires_at, b.expires_at)
  if (expires === undefined) delete joined.expires_at
  else joined.expires_at = expires
  return joined
}

/** A question that vanished between two snapshots is known to be closed before it is known how. */
function knowsEnd(question: Question): boolean {
  return (question.outcome ?? '') !== ''
}

function withDetail(newer: Question, older: Question): Question {
  if (newer.detail !== undefined || older.detail === undefined || newer.version !== older.version) return newer
  return { ...newer, detail: older.detail }
}

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  const [atA, atB] = [instant(a), instant(b)]
  if (atA === null) return atB === null ? undefined : b
  return atB === null || atA <= atB ? a : b
}

/** No expiry is the latest one. */
function later(a: string | undefined, b: string | undefined): string | undefined {
  const [atA, atB] = [instant(a), instant(b)]
  if (atA === null || atB === null) return undefined
  return atA >= atB ? a : b
}

/** Oldest first, and the same for everybody: ids are made in the order of time. */
export function byAge(a: { readonly created_at: string; readonly id: string }, b: { readonly created_at: string; readonly id: string }): number {
  const [atA, atB] = [instant(a.created_at) ?? 0, instant(b.created_at) ?? 0]
  return atA - atB || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
