import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { question } from '../decide/question.fixture'
import { setLanguage } from '../text/i18n'
import { FakeTransport, Refusal } from '../wire/fake.fixture'
import { WindowTransport, type Bound } from '../wire/window'
import type { Frame, Question, Request, Status } from '../wire/types.gen'
import { untilTick, restingTick } from './clock'
import { FakeCore, noon, status } from './core.fixture'
import { Desk } from './desk.svelte'
import { firstPause } from './follow'

const settled = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

/** Answers as a core would, out of its history. */
function serve(core: FakeCore, now: Partial<Status>, more: (request: Request) => unknown = () => undefined) {
  return (request: Request): unknown => {
    const special = more(request)
    if (special !== undefined) return special
    const { epoch, seq } = core
    switch (request.action) {
      case 'status': return status({ epoch, ...now })
      case 'subscribe': return { epoch, seq }
      case 'list_questions': return { questions: [...core.now.questions.values()].filter((one) => one.state === 'open'), epoch, seq }
      case 'list_sessions': return { sessions: [...core.now.sessions.values()], epoch, seq }
      case 'list_calls': return { calls: [...core.now.calls.values()], epoch, seq }
      case 'list_receipts': return { receipts: [] }
      case 'get_preferences': return { language: 'system', theme: 'dark', letters: false, notify_command: false }
      case 'get_question': {
        const one = core.now.questions.get((request.args as { id: string }).id)
        return one ?? new Refusal('unknown_question')
      }
    }
    return undefined
  }
}

describe('the desk', () => {
  let core: FakeCore
  let transport: FakeTransport
  let desk: Desk
  let now: Partial<Status>
  const open = question({ id: 'q1', expires_at: noon(600) })
  const tell = (): void => { transport.frames.emit(core.frames.at(-1) as Frame) }
  const put = (frame: 'question.asked' | 'question.updated' | 'question.closed', one: Question): void => { core.put(frame, one); tell() }
  const ready = async (more?: (request: Request) => unknown): Promise<void> => {
    transport.answers = serve(core, now, more)
    desk.start(transport)
    transport.restores.emit()
    await settled()
  }

  beforeEach(() => {
    vi.useFakeTimers({ now: Date.parse('2026-03-01T12:00:00Z') })
    core = new FakeCore()
    core.put('question.asked', open)
    transport = new FakeTransport()
    desk = new Desk()
    now = {}
  })
  afterEach(() => { desk.stop(); setLanguage('en'); vi.unstubAllGlobals(); vi.useRealTimers() })

  it('looks at no clock, and shows nobody a card, while nobody can see the page', async () => {
    const page = Object.assign(new EventTarget(), { hidden: true })
    vi.stubGlobal('document', page)
    await ready()
    expect(vi.getTimerCount()).toBe(0)
    desk.select('q1')
    const shown = (): number => transport.of('question_shown').length
    void desk.shown('q1', 1)
    await settled()
    const before = shown()
    transport.losses.emit()
    transport.restores.emit()
    await settled()
    expect(shown()).toBe(before)
    page.hidden = false
    page.dispatchEvent(new Event('visibilitychange'))
    expect(vi.getTimerCount()).toBeGreaterThan(0)
  })

  it('shows a snapshot, and what follows', async () => {
    expect(desk.connection).toBe('connecting')
    await ready()
    expect(desk.connection).toBe('ready')
    expect(desk.questions).toEqual([open])
    expect(desk.preferences.theme).toBe('dark')
    expect(desk.mayAnswer).toBe(true)
    desk.select('q1')
    put('question.asked', question({ id: 'q2', created_at: noon(5) }))
    expect(desk.questions.map((one) => one.id)).toEqual(['q1', 'q2'])
    put('question.closed', { ...open, state: 'closed', outcome: 'deny', answerer: 'terminal' })
    expect(desk.questions.map((one) => one.id)).toEqual(['q2'])
    expect(desk.selected).toBe('q1')
    expect(desk.card).toMatchObject({ state: 'closed', answerer: 'terminal' })
  })
  it('knows nothing before its first snapshot, and what it knew after the connection was lost', async () => {
    expect(desk.known).toBe(false)
    await ready()
    expect(desk.known).toBe(true)
    transport.losses.emit()
    expect(desk.known).toBe(true)
  })
  it('tells an answer from elsewhere from one that closes others with it, and from a time-out', async () => {
    for (const id of ['q2', 'q3']) core.put('question.asked', question({ id, created_at: noon(1) }))
    await ready()
    put('question.closed', { ...open, state: 'closed', outcome: 'deny', answerer: 'owner/f' })
    expect(desk.answeredAt('q1')).toBe('elsewhere')
    const answer = desk.deny(question({ id: 'q2' }), '', true)
    put('question.closed', question({ id: 'q3', state: 'closed', outcome: 'deny', answerer: 'owner/f' }))
    put('question.closed', question({ id: 'q2', state: 'closed', outcome: 'deny', answerer: 'owner/f' }))
    transport.last('question_reject').reply({ applied: true, outcome: 'deny', version: 1 })
    expect(await answer).toBe(true)
    expect([desk.answeredAt('q2'), desk.answeredAt('q3')]).toEqual(['here', null])
    put('question.asked', question({ id: 'q4' }))
    put('question.closed', question({ id: 'q4', state: 'closed', outcome: 'expired' }))
    expect(desk.answeredAt('q4')).toBeNull()
  })
  it('keeps the notes that were begun until their request is closed', async () => {
    await ready()
    desk.drafts.keep('q1', 'not in ')
    put('question.asked', question({ id: 'q2', created_at: noon(1) }))
    expect(desk.drafts.of('q1')).toBe('not in ')
    put('question.closed', { ...open, state: 'closed', outcome: 'expired' })
    expect(desk.drafts.of('q1')).toBe('')
  })
  it('opens the newest receipt of a call, or says that there is none', async () => {
    await ready((request) => {
      const { call } = request.args as { call?: string }
      return request.action === 'list_receipts' && call === 'c1' ? { receipts: [{ record: { id: 'r1' } }] } : undefined
    })
    expect(await desk.openReceipt('c1')).toBe(true)
    expect([desk.page, desk.target, desk.receipt?.record.id]).toEqual(['receipts', 'r1', 'r1'])
    desk.go('inbox')
    expect(await desk.openReceipt('c2')).toBe(false)
    expect([desk.page, desk.notices.at(-1)?.key]).toEqual(['inbox', 'notice.no_receipt'])
  })
  it.each(['capability_denied', 'presence_required'])('tells a page that may only look what would help, whatever it tried: %s', async (code) => {
    now = { unlocked: false }
    await ready()
    const act = desk.testRequest()
    transport.last('test_request').refuse(code)
    await act
    expect(desk.notices.map((one) => one.key)).toEqual(['blocked.look_only'])
  })
  it('only looks where it does not speak for the owner', async () => {
    now = { unlocked: false }
    await ready()
    expect(desk.mayAnswer).toBe(false)
    await desk.shown('q1', 1)
    expect(transport.of('question_shown')).toEqual([])
  })
  it('takes a new snapshot after a gap', async () => {
    await ready()
    core.put('question.asked', question({ id: 'q2', created_at: noon(1) }))
    put('question.asked', question({ id: 'q3', created_at: noon(2) }))
    await settled()
    expect(desk.questions.map((one) => one.id)).toEqual(['q1', 'q2', 'q3'])
  })
  it('says that it lost the core, and asks anew when it is back', async () => {
    await ready()
    desk.select('q1')
    transport.losses.emit()
    expect([desk.connection, desk.mayAnswer, desk.questions.length]).toEqual(['lost', false, 1])
    core.put('question.closed', { ...open, state: 'closed', outcome: 'expired' })
    transport.restores.emit()
    await settled()
    expect(desk.connection).toBe('ready')
    expect(desk.card).toMatchObject({ state: 'closed', outcome: 'expired' })
  })
  it('follows a core that was started again', async () => {
    await ready()
    core = new FakeCore('e2')
    core.put('question.asked', question({ id: 'q7' }))
    transport.answers = serve(core, now)
    tell()
    await settled()
    expect(desk.connection).toBe('ready')
    expect(desk.questions.map((one) => one.id)).toEqual(['q7'])
  })
  it.each([['another wire', { wire: 99 }], ['another program after the page was loaded', { version: '2.0' }]])('stops at %s', async (name, other) => {
    if (name.includes('program')) await ready()
    transport.answers = serve(core, { ...other, version: '2.0' })
    desk.start(transport)
    transport.losses.emit()
    transport.restores.emit()
    await settled()
    expect([desk.connection, desk.otherVersion, desk.mayAnswer]).toEqual(['other_version', '2.0', false])
    transport.losses.emit()
    expect(desk.connection).toBe('other_version')
  })
  it('tries again when a snapshot could not be taken', async () => {
    let busy = true
    await ready((request) => (busy && request.action === 'list_calls' ? new Refusal('busy') : undefined))
    expect(desk.connection).toBe('lost')
    busy = false
    await settled(firstPause)
    expect(desk.connection).toBe('ready')
  })
  it('does without what it may not see', async () => {
    await ready((request) => (['list_receipts', 'get_preferences'].includes(request.action) ? new Refusal('capability_denied') : undefined))
    expect(desk.connection).toBe('ready')
    expect(desk.receipts).toEqual([])
  })
  it('fetches what a brief list leaves out of an opened card', async () => {
    const { detail: _, ...brief } = open
    await ready((request) => (request.action === 'list_questions' ? { questions: [brief], more: 3, epoch: core.epoch, seq: core.seq } : undefined))
    expect([desk.questions[0]?.detail, desk.more]).toEqual([undefined, 3])
    desk.select('q1')
    await settled()
    expect(desk.card?.detail).toEqual(open.detail)
  })

  describe('answers', () => {
    it('go out once, and end with their reply', async () => {
      await ready()
      const answer = desk.allow(open, 1, 'fine')
      expect(desk.pendingAnswer('q1')).toBe('sending')
      expect(await desk.deny(open)).toBe(false)
      expect(transport.of('question_reject')).toEqual([])
      expect(transport.last('question_reply').request.args).toEqual({ id: 'q1', version: 1, offer: 1, comment: 'fine' })
      put('question.closed', { ...open, state: 'closed', outcome: 'allow' })
      transport.last('question_reply').reply({ applied: true, outcome: 'allow', version: 1 })
      expect(await answer).toBe(true)
      expect(desk.pendingAnswer('q1')).toBeNull()
      expect(desk.notices).toEqual([])
      expect(desk.answeredAt('q1')).toBe('here')
    })
    it('stay locked while their fate is unknown, and are settled by a snapshot', async () => {
      await ready()
      const answer = desk.allow(open, 1)
      transport.losses.emit()
      transport.last('question_reply').fail(true)
      await settled()
      expect(desk.pendingAnswer('q1')).toBe('unknown')
      core.put('question.closed', { ...open, state: 'closed', outcome: 'allow' })
      transport.restores.emit()
      await settled(20_000)
      expect(await answer).toBe(true)
      expect(new Set(transport.of('question_reply').map((one) => one.request.command_id)).size).toBe(1)
      expect(desk.pendingAnswer('q1')).toBeNull()
      // Its own reply never came: the end may be another answer's.
      expect(desk.answeredAt('q1')).toBeNull()
    })
    it('that somebody else gave first say so', async () => {
      await ready()
      const answer = desk.allow(open, 1)
      core.put('question.closed', { ...open, state: 'closed', outcome: 'deny', answerer: 'other' })
      transport.last('question_reply').refuse('already_answered', { outcome: 'deny' })
      expect(await answer).toBe(false)
      await settled()
      expect(desk.notices.length).toBe(1)
      expect(desk.closed.get('q1')).toMatchObject({ outcome: 'deny' })
      expect(desk.answeredAt('q1')).toBe('elsewhere')
    })
    it('that name an old version are refused, and the new one is fetched', async () => {
      await ready()
      const answer = desk.allow(open, 1)
      core.put('question.updated', { ...open, version: 2 })
      transport.last('question_reply').refuse('stale_version')
      expect(await answer).toBe(false)
      await settled()
      expect(desk.question('q1')?.version).toBe(2)
    })
    it('that deny too soon are sent again by themselves; an allow is not', async () => {
      await ready()
      const deny = desk.deny(open, '', true)
      transport.last('question_reject').refuse('too_soon', { wait_ms: '200' })
      await settled(199)
      expect(desk.pendingAnswer('q1')).toBe('sending')
      expect(await desk.allow(open, 1)).toBe(false)
      await settled(1)
      expect(transport.of('question_reject').length).toBe(2)
      expect(transport.last('question_reject').request.command_id).not.toBe(transport.of('question_reject')[0]?.request.command_id)
      transport.last('question_reject').reply({ applied: true, outcome: 'deny', version: 1 })
      expect(await deny).toBe(true)
      const allow = desk.allow(open, 1)
      transport.last('question_reply').refuse('too_soon', { wait_ms: '200' })
      expect(await allow).toBe(false)
      await settled(5000)
      expect(transport.of('question_reply').length).toBe(1)
    })
  })

  it('tells once that a card is shown, and again after a failure and a new connection', async () => {
    await ready()
    const shown = desk.shown('q1', 1)
    void desk.shown('q1', 1)
    expect(transport.of('question_shown').length).toBe(1)
    transport.last('question_shown').refuse('internal_error')
    await shown
    const again = desk.shown('q1', 1)
    transport.last('question_shown').reply({ shown_at: noon(3), answers_at: noon(4) })
    await again
    expect(desk.question('q1')?.shown_at).toBe(noon(3))
    await desk.shown('q1', 1)
    expect(transport.of('question_shown').length).toBe(2)
    desk.select('q1')
    transport.losses.emit()
    transport.restores.emit()
    await settled()
    expect(transport.of('question_shown').length).toBe(3)
  })
  it('extends, pauses and prefers by what the core answers', async () => {
    await ready()
    const acts = [desk.extend(open), desk.pauseDesk(900), desk.setPreferences({ language: 'zh-CN', theme: 'light', letters: true, notify_command: true }), desk.testRequest()]
    transport.last('extend_question').reply({ ...open, expires_at: noon(1200) })
    transport.last('pause_desk').reply({ paused: true, until: noon(900) })
    transport.last('set_preferences').reply({ language: 'zh-CN', theme: 'light', letters: true, notify_command: true })
    transport.last('test_request').refuse('desk_paused', { until: noon(900) })
    expect(await Promise.all(acts)).toEqual([true, true, true, false])
    expect(desk.questions[0]?.expires_at).toBe(noon(1200))
    expect([desk.pause.paused, desk.status?.pause.paused, desk.preferences.language, desk.notices.length]).toEqual([true, true, 'zh-CN', 1])
    desk.dismiss(desk.notices[0] as (typeof desk.notices)[number])
    expect(desk.notices).toEqual([])
  })
  it('follows links, which only navigate, unless a window does', async () => {
    await ready()
    const link = (kind: string, id = ''): void => { core.happen('link.opened', { kind, id }); tell() }
    link('approval', 'q1')
    expect([desk.page, desk.selected]).toEqual(['inbox', 'q1'])
    link('session', 's1')
    expect([desk.page, desk.target]).toEqual(['sessions', 's1'])
    link('unknown')
    expect([desk.page, desk.notices.map((one) => one.key)]).toEqual(['sessions', ['notice.link_unknown']])
    link('')
    expect(transport.of('question_reply')).toEqual([])
    core.happen('desk.paused', { paused: false })
    now = { window: true }
    transport.answers = serve(core, now)
    transport.restores.emit()
    await settled()
    link('receipt', 'r1')
    expect(desk.page).toBe('sessions')
  })
  // A page that opens links could put another card under the pointer that was about to press Allow.
  it('puts no other card in the place of one that waits: a link to it is a notice with a button', async () => {
    core.put('question.asked', question({ id: 'q2' }))
    await ready()
    const link = (kind: string, id = ''): void => { core.happen('link.opened', { kind, id }); tell() }
    link('approval', 'q1')
    expect(desk.selected).toBe('q1')
    link('approval', 'q2')
    // Nor by way of another page.
    link('session', 's1')
    link('approval', 'q2')
    expect([desk.page, desk.selected, desk.notices.map((one) => [one.key, one.opens])]).toEqual(['sessions', 'q1', [['notice.other_request', 'q2']]])
    link('approval', 'q1')
    expect([desk.page, desk.selected]).toEqual(['inbox', 'q1'])
    desk.open(desk.notices[0] as (typeof desk.notices)[number])
    expect([desk.page, desk.selected, desk.notices]).toEqual(['inbox', 'q2', []])
    // An answered card waits for nothing.
    core.put('question.closed', { ...question({ id: 'q2' }), state: 'closed', outcome: 'deny' })
    tell()
    link('approval', 'q1')
    expect(desk.selected).toBe('q1')
  })
  it('asks for receipts again, once, when some were issued', async () => {
    await ready()
    for (let i = 0; i < 3; i++) { core.happen('receipt.issued', { call: 'c', start: 'a', end: 'b' }); tell() }
    await settled(1000)
    expect(transport.of('list_receipts').length).toBe(2)
  })
})

describe('in the window', () => {
  it('waits for the app to be ready, and shows what it says', async () => {
    vi.useFakeTimers()
    const core = new FakeCore()
    const events = new Map<string, (payload: unknown) => void>()
    const answers = serve(core, {})
    let phase = 'passphrase'
    const app = (): object => ({ phase, version: '1.0', platform: 'linux', demo: false, tray: { available: false, code: 'no_tray' }, notifications: { available: true } })
    const bound: Bound = {
      Do: (text) => {
        const request = JSON.parse(text) as Request
        const id = request.command_id
        if (request.action === 'app_unlock') return Promise.resolve(JSON.stringify({ command_id: id, applied: false, error: { code: 'passphrase_short', args: { min: '8' } } }))
        return Promise.resolve(JSON.stringify({ command_id: id, applied: true, result: request.action === 'app_status' ? app() : answers(request) }))
      },
      on: (name, callback) => { events.set(name, callback); return () => events.delete(name) },
    }
    const desk = new Desk()
    desk.start(new WindowTransport(bound))
    await settled()
    expect([desk.kind, desk.app?.phase, desk.connection]).toEqual(['window', 'passphrase', 'connecting'])
    expect(await desk.unlock('x')).toBe('passphrase_short')
    expect([desk.refusal?.args['min'], desk.notices.length]).toEqual(['8', 0])
    phase = 'ready'
    events.get('app')?.(JSON.stringify(app()))
    await settled()
    expect(desk.connection).toBe('ready')
    events.get('navigate')?.('{"page":"receipts"}')
    expect(desk.page).toBe('receipts')
    // The tray's "Quit…" only leads to where the window asks.
    events.get('navigate')?.('{"page":"quit"}')
    expect([desk.page, desk.target]).toEqual(['settings', 'quit'])
    phase = 'closing'
    events.get('app')?.(JSON.stringify(app()))
    expect([desk.app?.phase, desk.connection]).toEqual(['closing', 'lost'])
    desk.stop()
    expect(events.size).toBe(0)
    vi.useRealTimers()
  })
})

it('looks at the clock every second only while something counts down', () => {
  const at = Date.parse(noon(0))
  expect(untilTick([], { paused: false }, at)).toBe(restingTick)
  expect(untilTick([question({ expires_at: noon(45) })], { paused: false }, at)).toBe(1000)
  expect(untilTick([question({ expires_at: noon(75) })], { paused: false }, at)).toBe(15_000)
  expect(untilTick([question({ expires_at: noon(-5) })], { paused: true, until: noon(30) }, at)).toBe(1000)
})
