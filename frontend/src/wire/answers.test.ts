import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { question } from '../decide/question.fixture'
import { Answers, firstRetry } from './answers'
import { Client, longReplyTime, replyTime } from './client'
import { FakeTransport } from './fake.fixture'

const reply = { action: 'question_reply', args: { id: 'q1', version: 1, offer: 1 } } as const
const allowed = { applied: true, outcome: 'allow', version: 1 }
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)

describe('calls', () => {
  let transport: FakeTransport
  let client: Client
  beforeEach(() => { vi.useFakeTimers(); transport = new FakeTransport(); client = new Client(transport) })
  afterEach(() => { vi.useRealTimers() })

  it('gives the result', async () => {
    const call = client.call('ping', {})
    transport.last('ping').reply({ epoch: 'e', time: 't' })
    expect(await call).toEqual({ epoch: 'e', time: 't' })
  })
  const failures: [string, (t: FakeTransport) => void, string, boolean][] = [
    ['a refusal', (t) => t.last('ping').refuse('busy'), 'busy', false],
    ['no connection', (t) => t.last('ping').fail(false), 'not_connected', false],
    ['a connection that ended', (t) => t.last('ping').fail(true), 'no_reply', true],
    ['a reply without a result', (t) => t.last('ping').reply(undefined), 'bad_reply', true],
    ['no reply in time', () => { void vi.advanceTimersByTimeAsync(replyTime) }, 'no_reply', true],
  ]
  it.each(failures)('throws %s', async (_name, act, code, unknown) => {
    const call = client.call('ping', {})
    act(transport)
    await expect(call).rejects.toMatchObject({ code, unknown })
  })
  it('gives more time to what reads much, and to what waits', async () => {
    const calls = [client.call('verify_receipts', {}), client.call('await_call', { call: 'c', wait_ms: 50_000 })]
    const ended: string[] = []
    for (const [i, call] of calls.entries()) void call.catch(() => ended.push(String(i)))
    await vi.advanceTimersByTimeAsync(50_000 + replyTime - 1)
    expect(ended).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(ended).toEqual(['1'])
    await vi.advanceTimersByTimeAsync(longReplyTime)
    expect(ended).toEqual(['1', '0'])
  })
})

describe('answers', () => {
  let transport: FakeTransport
  let answers: Answers
  let states: string[]
  const ids = (): string[] => transport.of('question_reply').map((one) => one.request.command_id)

  beforeEach(() => {
    vi.useFakeTimers()
    transport = new FakeTransport()
    states = []
    answers = new Answers(new Client(transport), (id, state) => states.push(`${id} ${state ?? '-'}`))
  })
  afterEach(() => { vi.useRealTimers() })

  it('are over with their reply', async () => {
    const sent = answers.send(reply)
    expect(answers.pending('q1')).toBe('sending')
    transport.last('question_reply').reply(allowed)
    expect(await sent).toEqual(allowed)
    expect(states).toEqual(['q1 sending', 'q1 -'])
  })
  it('are over with a refusal', async () => {
    const sent = answers.send(reply)
    transport.last('question_reply').refuse('already_answered', { outcome: 'deny' })
    await expect(sent).rejects.toMatchObject({ code: 'already_answered', args: { outcome: 'deny' } })
    expect(answers.pending('q1')).toBeNull()
  })
  it('are sent again under their id while their fate is unknown', async () => {
    const sent = answers.send(reply)
    transport.last('question_reply').fail(true)
    await settled()
    expect(answers.pending('q1')).toBe('unknown')
    await vi.advanceTimersByTimeAsync(firstRetry)
    transport.last('question_reply').fail(false)
    await vi.advanceTimersByTimeAsync(firstRetry * 2)
    transport.last('question_reply').refuse('no_core')
    await settled()
    answers.restored()
    await settled()
    expect(ids().length).toBe(4)
    expect(new Set(ids()).size).toBe(1)
    transport.last('question_reply').reply(allowed)
    expect(await sent).toEqual(allowed)
    expect(states).toEqual(['q1 sending', 'q1 unknown', 'q1 -'])
  })
  it('are sent again after a time-out', async () => {
    void answers.send(reply)
    await vi.advanceTimersByTimeAsync(replyTime + firstRetry)
    expect(ids().length).toBe(2)
    expect(new Set(ids()).size).toBe(1)
  })
  it('are sent again when the core was too busy to look', async () => {
    const sent = answers.send(reply)
    transport.last('question_reply').refuse('busy')
    await settled()
    expect(answers.pending('q1')).toBe('sending')
    await vi.advanceTimersByTimeAsync(firstRetry)
    transport.last('question_reply').reply(allowed)
    expect(await sent).toEqual(allowed)
  })
  it('that never left are over at once', async () => {
    const sent = answers.send(reply)
    transport.last('question_reply').fail(false)
    await expect(sent).rejects.toMatchObject({ code: 'not_connected' })
  })
  it('are one command for a question at a time', async () => {
    const first = answers.send(reply)
    await expect(answers.send({ action: 'question_reject', args: { id: 'q1', version: 1 } })).rejects.toMatchObject({ code: 'answer_pending' })
    transport.last('question_reply').fail(true)
    await settled()
    await expect(answers.send(reply)).rejects.toMatchObject({ code: 'answer_pending' })
    void answers.send({ action: 'question_reject', args: { id: 'q2', version: 1 } })
    expect(transport.asked.length).toBe(2)
    answers.closed(question({ state: 'closed', outcome: 'deny' }))
    expect(await first).toMatchObject({ outcome: 'deny' })
    expect(answers.waiting()).toEqual(['q2'])
  })
  it('wait for their reply when the end of the question is told first', async () => {
    const sent = answers.send(reply)
    answers.closed(question({ state: 'closed', outcome: 'allow' }))
    await settled()
    expect(answers.pending('q1')).toBe('sending')
    transport.last('question_reply').reply(allowed)
    expect(await sent).toEqual(allowed)
  })
  it('are over with the end of the question when no reply follows it', async () => {
    const sent = answers.send(reply)
    answers.closed(question({ state: 'closed', outcome: 'allow', version: 3 }))
    await vi.advanceTimersByTimeAsync(replyTime)
    expect(await sent).toEqual({ applied: true, outcome: 'allow', version: 3 })
    expect(ids().length).toBe(1)
  })
})
