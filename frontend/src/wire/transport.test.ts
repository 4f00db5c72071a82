import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BrowserTransport, firstPause, keyProtocol, longestPause, wireAddress, type Socket } from './browser'
import { TransportError } from './transport'
import type { Frame } from './types.gen'
import { boundIn, WindowTransport, type Bound } from './window'

class FakeSocket implements Socket {
  sent: string[] = []
  closed = false
  onopen: (() => void) | null = null
  onclose: (() => void) | null = null
  onmessage: ((event: { readonly data: unknown }) => void) | null = null
  send(text: string): void { this.sent.push(text) }
  close(): void { this.closed = true }
  gets(data: unknown): void { this.onmessage?.({ data: typeof data === 'string' ? data : JSON.stringify(data) }) }
}
const frame: Frame = { frame: 'x', epoch: 'e', seq: 1, prev_seq: 0, time: '', data: {} }
const request = (id: string): { action: string; command_id: string } => ({ action: 'ping', command_id: id })

describe('the browser', () => {
  let sockets: FakeSocket[]
  let told: string[]
  let transport: BrowserTransport
  const latest = (): FakeSocket => sockets.at(-1) as FakeSocket

  beforeEach(() => {
    vi.useFakeTimers()
    sockets = []
    told = []
    transport = new BrowserTransport({ open: () => { const s = new FakeSocket(); sockets.push(s); return s }, random: () => 0 })
    transport.onRestored(() => told.push('restored'))
    transport.onLost(() => told.push('lost'))
    transport.onFrame((f) => told.push(f.frame))
    transport.start()
  })
  afterEach(() => { vi.useRealTimers() })

  it('carries requests, replies and frames', async () => {
    latest().onopen?.()
    const reply = transport.do(request('a'))
    latest().gets(frame)
    latest().gets({ command_id: 'other', applied: true, result: {} })
    latest().gets({ command_id: 'a', applied: true, result: { ok: 1 } })
    expect(await reply).toMatchObject({ result: { ok: 1 } })
    expect(told).toEqual(['restored', 'x'])
  })
  it('refuses while it is not connected, as not sent', async () => {
    await expect(transport.do(request('a'))).rejects.toEqual(new TransportError('closed', false))
  })
  it('leaves open what became of a request when the connection ends', async () => {
    latest().onopen?.()
    const reply = transport.do(request('a'))
    latest().onclose?.()
    await expect(reply).rejects.toMatchObject({ reason: 'closed', sent: true })
    expect(told).toEqual(['restored', 'lost'])
  })
  it('connects again with growing pauses, until somebody speaks to it', () => {
    let pause = firstPause
    for (let i = 0; i < 8; i++) {
      latest().onopen?.()
      latest().onclose?.()
      const count = sockets.length
      vi.advanceTimersByTime(pause - 1)
      expect(sockets.length).toBe(count)
      vi.advanceTimersByTime(1)
      expect(sockets.length).toBe(count + 1)
      pause = Math.min(pause * 2, longestPause)
    }
    latest().onopen?.()
    latest().gets(frame)
    latest().onclose?.()
    vi.advanceTimersByTime(firstPause)
    expect(latest().sent).toEqual([])
    expect(sockets.length).toBe(10)
  })
  it('passes over and counts what is no message', () => {
    latest().onopen?.()
    for (const bad of ['', '[]', '{}', '{"frame":"x"}', '{"command_id":1,"applied":true}', '{"frame":7,"command_id":"a","applied":true}']) latest().gets(bad)
    expect(transport.malformed).toBe(6)
    expect(told).toEqual(['restored'])
  })
  it('does not send what is too long', async () => {
    latest().onopen?.()
    await expect(transport.do({ ...request('a'), args: { comment: '中'.repeat(1_500_000) } })).rejects.toMatchObject({ reason: 'too_large', sent: false })
    expect(latest().sent).toEqual([])
  })
  it('gives a command that is sent again one reply', async () => {
    latest().onopen?.()
    const first = transport.do(request('a'))
    const second = transport.do(request('a'))
    latest().gets({ command_id: 'a', applied: true, result: {} })
    await expect(first).rejects.toBeInstanceOf(TransportError)
    await expect(second).resolves.toMatchObject({ applied: true })
  })
  it('stays closed', () => {
    latest().onopen?.()
    transport.close()
    vi.advanceTimersByTime(60_000)
    expect(sockets.length).toBe(1)
    expect(latest().closed).toBe(true)
  })
})

it('finds the wire beside the page', () => {
  expect(wireAddress({ protocol: 'http:', host: '127.0.0.1:1234' })).toBe('ws://127.0.0.1:1234/wire')
  expect(wireAddress({ protocol: 'https:', host: 'localhost' })).toBe('wss://localhost/wire')
})

it('keeps the key of a link, and takes it out of the address', () => {
  const kept = new Map<string, string>()
  const shown: string[] = []
  const place = (hash: string) => ({
    location: { hash, pathname: '/' }, history: { replaceState: (_: unknown, __: string, url: string) => { shown.push(url) } },
    storage: { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, value: string) => { kept.set(name, value) } },
  })
  expect(keyProtocol(place(''))).toBe('countersign.key.none')
  expect(keyProtocol(place('#key=a_b-9'))).toBe('countersign.key.a_b-9')
  expect(keyProtocol(place(''))).toBe('countersign.key.a_b-9')
  expect(keyProtocol(place('#key=<script>'))).toBe('countersign.key.a_b-9')
  expect(shown).toEqual(['/'])
})

describe('the window', () => {
  let events: Map<string, (payload: unknown) => void>
  let answer: (request: string) => Promise<string>
  let told: string[]
  let transport: WindowTransport
  const app = (phase: string): string => JSON.stringify({ phase, version: '1', platform: 'linux', demo: false, tray: { available: true }, notifications: { available: true } })

  beforeEach(() => {
    events = new Map()
    told = []
    const bound: Bound = { Do: (text) => answer(text), on: (name, callback) => { events.set(name, callback); return () => events.delete(name) } }
    transport = new WindowTransport(bound)
    transport.onRestored(() => told.push('restored'))
    transport.onLost(() => told.push('lost'))
    transport.onFrame((f) => told.push(f.frame))
    transport.onApp((a) => told.push(a.phase))
    transport.onWanted((w) => told.push(`${w.page}/${w.question}`))
    transport.start()
  })

  it('follows the phases of the app and its subscription', () => {
    for (const phase of ['opening', 'passphrase', 'ready', 'ready']) events.get('app')?.(app(phase))
    events.get('frame')?.(JSON.stringify(frame))
    events.get('lost')?.('{}')
    events.get('app')?.(app('fault'))
    events.get('lost')?.('{}')
    expect(told).toEqual(['opening', 'passphrase', 'ready', 'restored', 'ready', 'x', 'lost', 'restored', 'fault', 'lost', 'lost'])
  })
  it('hears where somebody wants to go', () => {
    events.get('navigate')?.('{"page":"inbox","question":"q"}')
    events.get('navigate')?.('{"page":7}')
    expect(told).toEqual(['inbox/q', '/'])
  })
  it('passes over and counts what is no message', () => {
    events.get('frame')?.('x')
    events.get('frame')?.({ frame: 'x' })
    events.get('app')?.('{"phase":"dancing"}')
    expect(transport.malformed).toBe(3)
    expect(told).toEqual([])
  })
  it('carries requests', async () => {
    answer = (text) => Promise.resolve(JSON.stringify({ command_id: (JSON.parse(text) as { command_id: string }).command_id, applied: true, result: {} }))
    await expect(transport.do(request('a'))).resolves.toMatchObject({ command_id: 'a' })
  })
  it.each([
    ['a reply to something else', () => Promise.resolve('{"command_id":"b","applied":true}'), 'malformed'],
    ['no reply', () => Promise.resolve(''), 'malformed'], ['a failure of the bridge', () => Promise.reject(new Error('gone')), 'closed'],
  ])('leaves open what became of a request with %s', async (_name, replies, reason) => {
    answer = replies
    await expect(transport.do(request('a'))).rejects.toMatchObject({ reason, sent: true })
  })
  it('is found where the app has bound it', async () => {
    expect(boundIn({})).toBeNull()
    expect(boundIn({ go: { bridge: { Bridge: {} } }, runtime: {} })).toBeNull()
    const bound = boundIn({ go: { bridge: { Bridge: { Do: (x: string) => Promise.resolve(x + '!') } } }, runtime: { EventsOn: (name: string, callback: (p: unknown) => void) => { callback(name); return () => undefined } } })
    expect(await bound?.Do('a')).toBe('a!')
    bound?.on('frame', (payload) => told.push(String(payload)))
    expect(told).toEqual(['frame'])
  })
})
