// A core for tests: it numbers what happens, gives snapshots, and remembers how it stood at every number.
import { question } from '../decide/question.fixture'
import type { Call, Frame, Frames, Question, Session, Status } from '../wire/types.gen'
import { wireVersion } from '../wire/types.gen'
import type { Snapshot } from './feed'

export function status(more: Partial<Status> = {}): Status {
  return {
    version: '1.0', wire: wireVersion, pid: 1, epoch: 'e1', seq: 0, fingerprint: '', started_at: '', sessions: 0, questions: 0, calls: 0,
    unlocked: true, boundary: { enforcement: 'Enforced', backend: '' }, problems: [], read_only: false, socket: '', state_path: '',
    pause: { paused: false }, window: false, ...more,
  }
}

export function session(more: Partial<Session> = {}): Session {
  return {
    id: 's1', agent: 'claude', claim: '', root: { pid: 1, start: 1, exe: '', name: '' }, verified: true, roots: [], project: '/p',
    mode: 'default', mode_version: 1, sandbox_policy: '', interactive: true, attended: true, started_at: '2026-03-01T12:00:00Z', ...more,
  }
}

export function call(more: Partial<Call> = {}): Call {
  return {
    id: 'c1', session: 's1', project: '/p', execution: '', agent: 'claude', tool: 'bash', agent_tool: 'Bash', cwd: '/p', boundary: 'enforced',
    digest: '', state: 'waiting', verdict: { outcome: 'ask', reason: '', step: 0, trace: [] }, question: 'q1', created_at: '2026-03-01T12:00:00Z', ...more,
  }
}

/** A time so many seconds after noon. */
export function noon(seconds: number): string {
  return new Date(Date.parse('2026-03-01T12:00:00Z') + seconds * 1000).toISOString()
}

interface Stand {
  readonly questions: ReadonlyMap<string, Question>
  readonly calls: ReadonlyMap<string, Call>
  readonly sessions: ReadonlyMap<string, Session>
}

export class FakeCore {
  readonly frames: Frame[] = []
  readonly stands: Stand[] = [{ questions: new Map(), calls: new Map(), sessions: new Map([['s1', session()]]) }]
  constructor(readonly epoch = 'e1') {}

  get seq(): number { return this.frames.length }
  get now(): Stand { return this.at(this.seq) }
  at(seq: number): Stand { return this.stands[seq] as Stand }

  happen<N extends keyof Frames>(frame: N, data: Frames[N], change: Partial<Stand> = {}): void {
    this.frames.push({ frame, epoch: this.epoch, seq: this.seq + 1, prev_seq: this.seq, time: '', data })
    this.stands.push({ ...this.at(this.seq - 1), ...change })
  }
  put(frame: 'question.asked' | 'question.updated' | 'question.closed', one: Question): void {
    this.happen(frame, one, { questions: new Map(this.now.questions).set(one.id, one) })
  }
  putCall(one: Call): void { this.happen('call.updated', one, { calls: new Map(this.now.calls).set(one.id, one) }) }
  putSession(one: Session): void { this.happen('session.updated', one, { sessions: new Map(this.now.sessions).set(one.id, one) }) }
  setMode(id: string, mode: string): void {
    const one = this.now.sessions.get(id) ?? session({ id })
    const version = one.mode_version + 1
    this.happen('permission.state', { session: id, mode, version }, { sessions: new Map(this.now.sessions).set(id, { ...one, mode, mode_version: version }) })
  }

  /** Lists as of their seqs, which were read from the store as it stood later: at what read gives. */
  snapshot(subscribed: number, seqs: readonly [number, number, number] = [subscribed, subscribed, subscribed], read: readonly [number, number, number] = seqs): Snapshot {
    const { epoch } = this
    const open = [...this.at(read[0]).questions.values()].filter((one) => one.state === 'open')
    return {
      subscribed: { epoch, seq: subscribed }, status: status({ epoch }),
      questions: { questions: open, epoch, seq: seqs[0] },
      sessions: { sessions: [...this.at(read[1]).sessions.values()], epoch, seq: seqs[1] },
      calls: { calls: [...this.at(read[2]).calls.values()], epoch, seq: seqs[2] },
      receipts: [], preferences: null,
    }
  }
}

/** A made-up history: questions asked, shown, extended and closed, calls and sessions that change. */
export function history(next: (below: number) => number, length: number): FakeCore {
  const core = new FakeCore()
  for (let i = 0; i < length; i++) {
    const open = [...core.now.questions.values()].filter((one) => one.state === 'open')
    const one = open[next(Math.max(open.length, 1))]
    const id = String(core.now.questions.size + 1).padStart(3, '0')
    switch (next(7)) {
      case 0: case 1:
        core.put('question.asked', question({ id: `q${id}`, created_at: noon(core.seq), expires_at: noon(500) }))
        break
      case 2:
        if (one !== undefined) core.put('question.updated', { ...one, shown_at: one.shown_at ?? noon(core.seq) })
        break
      case 3:
        if (one !== undefined) core.put('question.updated', { ...one, expires_at: noon(600 + core.seq) })
        break
      case 4:
        if (one !== undefined) core.put('question.closed', { ...one, state: 'closed', outcome: next(2) === 0 ? 'allow' : 'deny' })
        break
      case 5:
        core.putCall(call({ id: `c${next(5)}`, state: ['waiting', 'allowed', 'running', 'ended'][next(4)] ?? 'ended' }))
        break
      default:
        if (next(2) === 0) core.setMode('s1', ['default', 'plan', 'bypass'][next(3)] ?? 'plan')
        else core.putSession({ ...(core.now.sessions.get('s1') ?? session()), attended: next(2) === 0 })
    }
  }
  return core
}

/** Repeatable chance. */
export function chance(seed: number): (below: number) => number {
  let state = seed + 1
  return (below) => {
    state = (state * 48271) % 2147483647
    return state % below
  }
}
