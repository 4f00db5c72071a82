import { describe, expect, it } from 'vitest'
import { question } from '../decide/question.fixture'
import type { Frame, Question } from '../wire/types.gen'
import { call, chance, FakeCore, history, noon, session } from './core.fixture'
import { fromSnapshot, keptCalls, keptClosed, noFeed, putMode, putQuestion, takeFrame, type Feed, type Taken } from './feed'
import { joinQuestion } from './question'
import { begin } from './sync'

function take(feed: Feed, frames: readonly Frame[]): Feed {
  return frames.reduce((next, frame) => takeFrame(next, frame).feed, feed)
}
/** What a person sees of a feed, whatever way it came about. */
function seen(feed: Feed): unknown {
  return { seq: feed.seq, questions: feed.questions, calls: feed.calls, sessions: feed.sessions, more: feed.more }
}
/** What a core that stands there would have a page show. */
function truth(core: FakeCore): unknown {
  return seen(fromSnapshot(noFeed, core.snapshot(core.seq)))
}

describe('any interleaving of a snapshot and frames ends in the same state', () => {
  it.each(Array.from({ length: 60 }, (_, i) => i))('history %i', (seed) => {
    const next = chance(seed)
    const core = history(next, 60)
    for (let round = 0; round < 20; round++) {
      // The subscription begins somewhere; each list is asked for later, and read later still.
      const from = next(core.seq + 1)
      const seqs = [0, 0, 0].map(() => from + next(core.seq - from + 1)) as [number, number, number]
      const read = seqs.map((seq) => seq + next(core.seq - seq + 1)) as [number, number, number]
      // Frames may arrive from before the subscription, and twice.
      const early = Math.max(0, from - next(4))
      const kept = core.frames.slice(early)
      const again = [...kept.slice(0, next(kept.length + 1)), ...kept]
      const before = next(2) === 0 ? noFeed : take(fromSnapshot(noFeed, core.snapshot(0)), core.frames.slice(0, from))
      const { feed, gap } = begin(before, core.snapshot(from, seqs, read), again)
      expect(gap).toBe(false)
      expect(seen(feed)).toEqual(truth(core))
    }
  })
})

it('closes in place what an earlier snapshot had open, whatever the next one says', () => {
  for (let seed = 0; seed < 30; seed++) {
    const next = chance(seed)
    const core = history(next, 50)
    const middle = next(core.seq)
    const before = take(fromSnapshot(noFeed, core.snapshot(0)), core.frames.slice(0, middle))
    const { feed } = begin(before, core.snapshot(core.seq), [])
    for (const one of before.questions) {
      expect(feed.questions.some((q) => q.id === one.id) !== feed.closed.has(one.id)).toBe(true)
      if (core.now.questions.get(one.id)?.state === 'closed') expect(feed.closed.get(one.id)?.state).toBe('closed')
    }
  }
})

describe('the cursor', () => {
  const core = history(chance(5), 12)
  const feed = fromSnapshot(noFeed, core.snapshot(5))
  const at = (seq: number, more: Partial<Frame> = {}): Frame => ({ ...(core.frames[seq - 1] as Frame), ...more })
  const cases: [string, Frame, Taken['kind']][] = [
    ['known already', at(5), 'known'], ['long known', at(1), 'known'], ['one missing', at(7), 'gap'], ['another run of the core', at(6, { epoch: 'e2' }), 'gap'],
    ['frames between that were not for us', at(7, { frame: 'permission_rules', prev_seq: 5 }), 'taken'],
    ['a frame of a later version', at(6, { frame: 'moon.rose', data: {} }), 'taken'],
    ['data without an id', at(6, { frame: 'question.asked', data: {} }), 'malformed'],
    ['a pause without a state', at(6, { frame: 'desk.paused', data: {} }), 'malformed'],
    ['a mode without a version', at(6, { frame: 'permission.state', data: { session: 's1', mode: 'plan' } }), 'malformed'],
  ]
  it.each(cases)('%s', (_name, frame, kind) => {
    const { feed: after, taken } = takeFrame(feed, frame)
    expect(taken.kind).toBe(kind)
    expect(after.seq).toBe(kind === 'known' || kind === 'gap' ? 5 : frame.seq)
    if (kind !== 'taken') expect(seen({ ...after, seq: 5 })).toEqual(seen(feed))
  })
})

it('finds a gap between a snapshot and the frames kept meanwhile, and lists of another run', () => {
  const core = history(chance(1), 10)
  expect(begin(noFeed, core.snapshot(3), core.frames.slice(5)).gap).toBe(true)
  const mixed = { ...core.snapshot(3), calls: { calls: [], epoch: 'e2', seq: 1 } }
  expect(begin(noFeed, mixed, []).gap).toBe(true)
  expect(begin(noFeed, core.snapshot(3), [{ ...(core.frames[3] as Frame), epoch: 'e0' }]).gap).toBe(false)
})

describe('questions', () => {
  const open = question({ expires_at: noon(100) })
  const closed: Question = { ...open, state: 'closed', outcome: 'deny' }
  it('never open again', () => {
    const feed = putQuestion(putQuestion(putQuestion(noFeed, open), closed), { ...open, version: 9 })
    expect(feed.questions).toEqual([])
    expect(feed.closed.get('q1')).toEqual(closed)
  })
  it('learn how they ended when they vanished unseen', () => {
    const core = new FakeCore()
    let feed = fromSnapshot(putQuestion(noFeed, open), core.snapshot(0))
    expect(feed.closed.get('q1')).toEqual({ ...open, state: 'closed' })
    feed = putQuestion(feed, closed)
    expect(feed.closed.get('q1')?.outcome).toBe('deny')
    expect(putQuestion(feed, { ...open, state: 'closed' }).closed.get('q1')?.outcome).toBe('deny')
  })
  it('stay where the list was cut', () => {
    const [first, late] = [question({ id: 'q1', created_at: noon(0) }), question({ id: 'q9', created_at: noon(9) })]
    const snapshot = new FakeCore().snapshot(0)
    const feed = fromSnapshot(putQuestion(noFeed, late), { ...snapshot, questions: { ...snapshot.questions, questions: [first], more: 3 } })
    expect(feed.questions.map((one) => one.id)).toEqual(['q1', 'q9'])
    expect(feed.more).toBe(3)
  })
  it('come out of those that did not fit', () => {
    const snapshot = new FakeCore().snapshot(0)
    const feed = fromSnapshot(noFeed, { ...snapshot, questions: { ...snapshot.questions, questions: [open], more: 2 } })
    const frame = (seq: number, name: string, data: Question): Frame => ({ frame: name, epoch: 'e1', seq, prev_seq: seq - 1, time: '', data })
    const after = take(feed, [frame(1, 'question.closed', { ...closed, id: 'q8' }), frame(2, 'question.asked', question({ id: 'q9' })), frame(3, 'question.updated', question({ id: 'q7' }))])
    expect(after.more).toBe(0)
    expect(after.questions.map((one) => one.id)).toEqual(['q1', 'q7', 'q9'])
  })
  it('keep their detail when a brief telling comes', () => {
    const { detail: _, ...brief } = open
    expect(putQuestion(putQuestion(noFeed, open), brief).questions[0]?.detail).toEqual(open.detail)
    expect(putQuestion(putQuestion(noFeed, open), { ...brief, version: 2 }).questions[0]?.detail).toBeUndefined()
  })
  it('stay oldest first; new ones come last', () => {
    const ids = ['q3', 'q1', 'q2'].map((id) => question({ id, created_at: noon(Number(id.slice(1))) }))
    expect(ids.reduce((feed, one) => putQuestion(feed, one), noFeed).questions.map((one) => one.id)).toEqual(['q1', 'q2', 'q3'])
  })
  it('that are closed are kept only so many', () => {
    let feed = noFeed
    for (let i = 0; i < keptClosed + 5; i++) feed = putQuestion(feed, { ...closed, id: `q${i}` })
    expect(feed.closed.size).toBe(keptClosed)
    expect(feed.closed.has('q0')).toBe(false)
  })
})

it('joins tellings of a question the same in any order', () => {
  const tellings: Question[] = [
    question({ expires_at: noon(10) }), question({ expires_at: noon(90) }), question({ expires_at: noon(10), shown_at: noon(3) }),
    question({ version: 2, expires_at: noon(5) }), question({ state: 'closed', outcome: 'deny', version: 2 }),
    question({ expires_at: noon(10), shown_at: noon(2) }),
  ]
  for (let seed = 0; seed < 50; seed++) {
    const next = chance(seed)
    const some = tellings.filter(() => next(2) === 0)
    const shuffled = [...some].map((one) => ({ one, at: next(1000) })).sort((a, b) => a.at - b.at).map(({ one }) => one)
    if (some.length > 0) expect(shuffled.reduce(joinQuestion)).toEqual(some.reduce(joinQuestion))
  }
})

describe('modes', () => {
  const feed = fromSnapshot(noFeed, (() => { const core = new FakeCore(); core.putSession(session({ mode: 'plan', mode_version: 5 })); return core.snapshot(1) })())
  const mode = (of: Feed): string => `${of.sessions[0]?.mode} ${of.sessions[0]?.mode_version}`
  it('take a higher version', () => { expect(mode(putMode(feed, { session: 's1', mode: 'bypass', version: 6 }))).toBe('bypass 6') })
  it('are not taken back by a lower one', () => { expect(mode(putMode(feed, { session: 's1', mode: 'bypass', version: 4 }))).toBe('plan 5') })
  it('are not taken back by a late telling of the session', () => {
    const late: Frame = { frame: 'session.updated', epoch: 'e1', seq: 2, prev_seq: 1, time: '', data: session({ attended: false, mode_version: 2 }) }
    const after = takeFrame(feed, late).feed
    expect(mode(after)).toBe('plan 5')
    expect(after.sessions[0]?.attended).toBe(false)
  })
  it('of a session nobody knows change nothing', () => { expect(putMode(feed, { session: 'x', mode: 'plan', version: 1 })).toBe(feed) })
})

it('keeps only calls that were asked about, and only so many', () => {
  let feed = fromSnapshot(noFeed, new FakeCore().snapshot(0))
  for (let i = 1; i <= keptCalls + 9; i++) {
    feed = takeFrame(feed, { frame: 'call.updated', epoch: 'e1', seq: i, prev_seq: i - 1, time: '', data: call({ id: `c${i}`, created_at: noon(i), question: i % 2 === 0 ? 'q' : '' }) }).feed
  }
  expect(feed.calls.length).toBe(Math.floor((keptCalls + 9) / 2))
  expect(feed.calls[0]?.id).toBe('c208')
})
