// What the core has told, as one value: a snapshot and the frames after it. A pure reducer. Frames are followed by the rules
// of the core's own cursor (wire.Cursor): another epoch or a missing frame is a gap, after which only a new snapshot helps;
// a frame that the cursor has passed is known already. The lists of a snapshot are taken one after the other while frames
// arrive, so each has its own seq, and may hold more than it says.
import type {
  Call, Calls, DeskPause, Frame, Frames, Link, PermissionState, Preferences, Question, Questions, Receipt, ReceiptIssued, Session,
  Sessions, Status, Subscribed,
} from '../wire/types.gen'
import { byAge, joinQuestion } from './question'

/** How many closed questions and calls are kept for the page. */
export const keptClosed = 200
export const keptCalls = 200

export interface Snapshot {
  /** Frames follow after this; every list was asked for after it. */
  readonly subscribed: Subscribed
  readonly status: Status
  readonly questions: Questions
  readonly sessions: Sessions
  readonly calls: Calls
  readonly receipts: readonly Receipt[]
  readonly preferences: Preferences | null
}

export interface Feed {
  readonly epoch: string
  readonly seq: number
  readonly seqs: { readonly questions: number; readonly sessions: number; readonly calls: number }
  readonly status: Status | null
  readonly questions: readonly Question[]
  readonly more: number
  readonly closed: ReadonlyMap<string, Question>
  readonly calls: readonly Call[]
  readonly sessions: readonly Session[]
  readonly receipts: readonly Receipt[]
  readonly preferences: Preferences
  readonly pause: DeskPause
}

export const noFeed: Feed = {
  epoch: '', seq: 0, seqs: { questions: 0, sessions: 0, calls: 0 }, status: null, questions: [], more: 0, closed: new Map(), calls: [],
  sessions: [], receipts: [], preferences: { language: 'system', theme: 'system', letters: true, notify_command: false },
  pause: { paused: false },
}

/** What a frame did, for what is not state: asking for more, telling the person. */
export type Taken =
  | { readonly kind: 'gap' | 'known' | 'taken' | 'malformed' }
  | { readonly kind: 'closed'; readonly question: Question }
  | { readonly kind: 'link'; readonly link: Link }
  | { readonly kind: 'receipts'; readonly issued: ReceiptIssued }

export interface Step {
  readonly feed: Feed
  readonly taken: Taken
}

/** Begins again from a snapshot. What the page saw close stays closed; an open question that the snapshot does not know
 * closed unseen, and is kept as closed with an outcome that is still to be asked for. */
export function fromSnapshot(before: Feed, snapshot: Snapshot): Feed {
  const sameRun = before.epoch === snapshot.subscribed.epoch
  const listed = snapshot.questions.questions ?? []
  const more = snapshot.questions.more ?? 0
  const last = listed.at(-1)
  let feed: Feed = {
    ...before,
    epoch: snapshot.subscribed.epoch, seq: snapshot.subscribed.seq,
    seqs: { questions: snapshot.questions.seq, sessions: snapshot.sessions.seq, calls: snapshot.calls.seq },
    status: snapshot.status, questions: [], more, sessions: [],
    // The list has no details where it is brief; what was known of the same version stays.
    calls: [...(snapshot.calls.calls ?? [])].filter(hasQuestion).sort(newestFirst).slice(0, keptCalls),
    receipts: snapshot.receipts, preferences: snapshot.preferences ?? before.preferences, pause: snapshot.status.pause,
  }
  for (const question of listed) {
    const known = before.questions.find((one) => one.id === question.id)
    feed = putQuestion(feed, known === undefined ? question : joinQuestion(known, question))
  }
  for (const session of snapshot.sessions.sessions ?? []) {
    const known = sameRun ? before.sessions.find((one) => one.id === session.id) : undefined
    feed = putSession(feed, known === undefined ? session : highestMode(session, known))
  }
  for (const question of before.questions) {
    if (feed.questions.some((one) => one.id === question.id) || feed.closed.has(question.id)) continue
    const unlisted = more > 0 && (last === undefined || byAge(question, last) > 0)
    feed = putQuestion(feed, unlisted ? question : { ...question, state: 'closed' })
  }
  return { ...feed, more }
}

/** Takes one frame. */
export function takeFrame(feed: Feed, frame: Frame): Step {
  if (frame.epoch !== feed.epoch) return { feed, taken: { kind: 'gap' } }
  if (frame.seq <= feed.seq) return { feed, taken: { kind: 'known' } }
  if (frame.prev_seq > feed.seq) return { feed, taken: { kind: 'gap' } }
  return applyFrame({ ...feed, seq: frame.seq }, frame)
}

/** The data of a frame whose ids are what they must be; null when they are not. */
function dataOf<N extends keyof Frames>(frame: Frame, _name: N, ids: readonly (keyof Frames[N] & string)[]): Frames[N] | null {
  const data = frame.data as Record<string, unknown>
  return ids.every((id) => typeof data[id] === 'string' && data[id] !== '') ? (frame.data as Frames[N]) : null
}

function applyFrame(feed: Feed, frame: Frame): Step {
  const malformed: Step = { feed, taken: { kind: 'malformed' } }
  const taken = (next: Feed): Step => ({ feed: next, taken: { kind: 'taken' } })
  switch (frame.frame as keyof Frames) {
    case 'question.asked':
    case 'question.updated': {
      const question = dataOf(frame, 'question.asked', ['id', 'state', 'created_at'])
      if (question === null) return malformed
      return taken(frame.seq <= feed.seqs.questions ? feed : putQuestion(feed, question, frame.frame === 'question.updated'))
    }
    case 'question.closed': {
      const question = dataOf(frame, 'question.closed', ['id', 'state', 'created_at'])
      if (question === null) return malformed
      const closed: Question = question.state === 'open' ? { ...question, state: 'closed' } : question
      // Closing is final, so it counts even when the list is younger: the page may still show the card.
      return { feed: putQuestion(feed, closed, frame.seq > feed.seqs.questions), taken: { kind: 'closed', question: closed } }
    }
    case 'call.updated': {
      const call = dataOf(frame, 'call.updated', ['id', 'created_at'])
      if (call === null) return malformed
      return taken(frame.seq <= feed.seqs.calls ? feed : putCall(feed, call))
    }
    case 'session.updated': {
      const session = dataOf(frame, 'session.updated', ['id', 'started_at'])
      if (session === null) return malformed
      return taken(frame.seq <= feed.seqs.sessions ? feed : putSession(feed, session))
    }
    case 'permission.state': {
      const state = dataOf(frame, 'permission.state', ['session', 'mode'])
      if (state === null || typeof state.version !== 'number') return malformed
      return taken(putMode(feed, state))
    }
    case 'receipt.issued': {
      const issued = dataOf(frame, 'receipt.issued', [])
      return issued === null ? malformed : { feed, taken: { kind: 'receipts', issued } }
    }
    case 'desk.paused': {
      const pause = dataOf(frame, 'desk.paused', [])
      if (pause === null || typeof pause.paused !== 'boolean') return malformed
      return taken(withPause(feed, pause))
    }
    case 'link.opened': {
      const link = dataOf(frame, 'link.opened', [])
      return link === null || typeof link.kind !== 'string' ? malformed : { feed, taken: { kind: 'link', link } }
    }
    case 'preferences': {
      const preferences = dataOf(frame, 'preferences', ['language', 'theme'])
      return preferences === null ? malformed : taken({ ...feed, preferences })
    }
    case 'permission_rules':
      return taken(feed)
  }
  // A frame of a later version: its number counts, its data does not.
  return taken(feed)
}

/** Puts one telling of a question into its place. unlisted: an unknown one was among those that did not fit the list. */
export function putQuestion(feed: Feed, question: Question, unlisted = false): Feed {
  const over = feed.closed.get(question.id)
  if (over !== undefined) return withClosed(feed, joinQuestion(over, question))
  const known = feed.questions.find((one) => one.id === question.id)
  const joined = known === undefined ? question : joinQuestion(known, question)
  const more = known === undefined && unlisted && feed.more > 0 ? feed.more - 1 : feed.more
  const others = feed.questions.filter((one) => one.id !== question.id)
  if (joined.state === 'open') return { ...feed, more, questions: [...others, joined].sort(byAge) }
  return withClosed({ ...feed, more, questions: others }, joined)
}

function withClosed(feed: Feed, question: Question): Feed {
  const closed = new Map(feed.closed)
  closed.set(question.id, question)
  for (const id of closed.keys()) {
    if (closed.size <= keptClosed) break
    closed.delete(id)
  }
  return { ...feed, closed }
}

function hasQuestion(call: Call): boolean {
  return (call.question ?? '') !== ''
}

function newestFirst(a: Call, b: Call): number {
  return byAge(b, a)
}

function putCall(feed: Feed, call: Call): Feed {
  if (!hasQuestion(call)) return feed
  const calls = [...feed.calls.filter((one) => one.id !== call.id), call].sort(newestFirst).slice(0, keptCalls)
  return { ...feed, calls }
}

/** A session with the mode of the higher version of two tellings: a late one never takes a mode back. */
function highestMode(session: Session, other: Session): Session {
  if (session.mode_version >= other.mode_version) return session
  return { ...session, mode: other.mode, mode_version: other.mode_version }
}

function putSession(feed: Feed, session: Session): Feed {
  const known = feed.sessions.find((one) => one.id === session.id)
  const joined = known === undefined ? session : highestMode(session, known)
  const sessions = [...feed.sessions.filter((one) => one.id !== session.id), joined]
  sessions.sort((a, b) => byAge({ id: b.id, created_at: b.started_at }, { id: a.id, created_at: a.started_at }))
  return { ...feed, sessions }
}

/** Puts a confirmed mode into its session, unless a higher version is known. */
export function putMode(feed: Feed, state: PermissionState): Feed {
  const session = feed.sessions.find((one) => one.id === state.session)
  if (session === undefined || session.mode_version >= state.version) return feed
  return putSession(feed, { ...session, mode: state.mode, mode_version: state.version })
}

export function withPause(feed: Feed, pause: DeskPause): Feed {
  return { ...feed, pause, status: feed.status === null ? null : { ...feed.status, pause } }
}
