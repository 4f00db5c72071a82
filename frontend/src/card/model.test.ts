import { describe, expect, it } from 'vitest'
import type { Call, Card, CapabilitySnapshot, Question } from '../wire/types.gen'
import { allowKey, argumentList, baseName, boundaryKind, boundaryTone, cautions, deniedInside, endOf, fateOf, partReason, runKey, sentenceKey, sumUp } from './model'

const card = (fields: Partial<Card>) => ({ agent: 'claude', tool: 'bash', here: false, boundary: 'any', risk: { level: 'low', words: [] }, ...fields }) as Card
const effective = (policy: string) => ({ policy }) as CapabilitySnapshot
const question = (fields: Partial<Question>) => ({ tool: 'bash', risk: 'low', reason: 'approval_required', ...fields }) as Question

describe('the boundary of a card', () => {
  it.each<[string, Card, string, string, string]>([
    ['in the sandbox', card({ here: true, boundary: 'enforced', effective: effective('workspace-write') }), 'enforced', 'good', 'button.allow_once'],
    ['a checked write', card({ tool: 'edit', here: true, boundary: 'enforced' }), 'write', 'good', 'button.allow_once'],
    ['run by the agent', card({}), 'agent', 'care', 'button.let_run'],
    ['without sandbox', card({ here: true, boundary: 'enforced', effective: effective('danger-full-access') }), 'unbounded', 'care', 'button.run_unenforced'],
    ['here, and no boundary was shown', card({ here: true, effective: effective('workspace-write') }), 'unbounded', 'care', 'button.run_unenforced'],
    // Whatever was not known to have a sandbox passed for a file that the core writes.
    ['said to run here, with nothing that holds it', card({ tool: 'web', here: true, boundary: 'enforced' }), 'agent', 'care', 'button.let_run'],
    // A boundary that was computed is not one that holds: only what runs here is enforced.
    ['computed and released', card({ boundary: 'any', effective: effective('workspace-write') }), 'agent', 'care', 'button.let_run'],
  ])('%s', (_, shown, kind, tone, key) => {
    expect(boundaryKind(shown)).toBe(kind)
    expect(boundaryTone(boundaryKind(shown))).toBe(tone)
    expect(allowKey(question({ detail: shown }))).toBe(key)
  })
  it('is not good without a card', () => expect(allowKey(question({}))).toBe('button.let_run'))
})

describe('cautions', () => {
  it('names everything that is so', () => {
    expect(cautions(question({ risk: 'high', reason: 'outside_roots', detail: card({ opaque: 'a pipe' }) }), true, { argument: true, change: true }))
      .toEqual(['caution.agent', 'caution.risk', 'caution.opaque', 'caution.outside_roots', 'caution.argument', 'caution.change', 'caution.rule'])
  })
  it('is never empty', () => {
    const shown = card({ here: true, boundary: 'enforced', effective: effective('workspace-write') })
    expect(cautions(question({ detail: shown }), false, { argument: false, change: false })).toEqual(['caution.other'])
  })
})

describe('paths', () => {
  it('sums up the system', () => expect(sumUp(['/usr/lib', '/home/a', '/etc'])).toEqual({ own: ['/home/a'], system: true }))
  it('does not take a name that only begins alike for the system', () => expect(sumUp(['/usrlocal'])).toEqual({ own: ['/usrlocal'], system: false }))
  it('shows what is kept out relative to its root', () => {
    const snapshot = { write_roots: ['/w'], denied_roots: ['/w/.git/hooks', '/wide/x', '/home/a/.ssh'] } as CapabilitySnapshot
    expect(deniedInside(snapshot)).toEqual(['.git/hooks'])
  })
  it.each([['/a/b/', 'b'], ['C:\\a\\b', 'b'], ['/', '/']])('last name of %s', (path, name) => expect(baseName(path)).toBe(name))
})

describe('arguments', () => {
  const listed = (fields: Partial<Card>, ...shown: string[]) =>
    argumentList(card(fields), new Set(shown)).map(({ name, value, leftOut }) => [name, leftOut ?? value])
  it('are whole, sorted, and without what is shown elsewhere', () => {
    expect(listed({ args: { b: { x: 1 }, description: 'd', command: 'ls', a: 'text' } }, 'command')).toEqual([['a', 'text'], ['b', '{\n "x": 1\n}'], ['description', 'd']])
  })
  it('are followed by those that the core left out', () => {
    expect(listed({ args: { path: 'a' }, omitted: { content: 70000, after: 5000 } })).toEqual([['path', 'a'], ['after', 5000], ['content', 70000]])
    expect(listed({ args: {}, omitted: { '': 70000 } }, 'command')).toEqual([['', 70000]])
    expect(listed({ args: {}, omitted: { content: 70000 } }, 'content')).toEqual([])
  })
  // A call hid all of its arguments, or one, with a name that only the core was thought to write.
  it('cannot say themselves that they are left out', () => {
    expect(listed({ args: { omitted_bytes: 3, x: 'y' } }, 'command')).toEqual([['omitted_bytes', '3'], ['x', 'y']])
    expect(listed({ args: { x: { omitted_bytes: 3, real: 1 } } })).toEqual([['x', '{\n "omitted_bytes": 3,\n "real": 1\n}']])
  })
  it.each([null, undefined])('none for %s', (args) => expect(listed({ args })).toEqual([]))
  it('that are no object stand as they are', () => expect(listed({ args: [1, 'a'] })).toEqual([['', '[1,"a"]']]))
})

describe('parts and ends', () => {
  it('tells a rule from a safe read', () => {
    expect(partReason({ text: '', words: [], state: 'covered', why: 'bash(ls)' } as never).key).toBe('part.by_rule')
    expect(partReason({ text: '', words: [], state: 'covered', why: 'safe_read' } as never).key).toBe('part.safe_read')
  })
  it('never tells a time-out as a denial', () => expect(endOf(question({ outcome: 'expired' })).key).toBe('end.expired'))
})

// An answered card went on saying "wants to run", whatever had become of the call.
describe('a card that was answered', () => {
  it.each<[string, Partial<Question>, Partial<Call> | null, string, string]>([
    ['waits', { state: 'open' }, { state: 'waiting' }, 'sentence', ''],
    ['denied', { outcome: 'deny' }, { state: 'finished', outcome: 'refused' }, 'denied', 'run.not'],
    ['denied, and the call is not among the newest', { outcome: 'deny' }, null, 'denied', 'run.not'],
    ['allowed, and nothing more is known', { outcome: 'allow' }, null, 'let', ''],
    ['allowed, not begun', { outcome: 'allow' }, { state: 'allowed' }, 'let', 'run.not_yet'],
    ['running', { outcome: 'allow' }, { state: 'running' }, 'running', 'run.running'],
    ['ran well', { outcome: 'allow' }, { outcome: 'done', exit: 0 }, 'ran', 'run.good'],
    ['ran badly', { outcome: 'allow' }, { outcome: 'done', exit: 2 }, 'ran', 'run.exit'],
    ['was killed', { outcome: 'allow' }, { outcome: 'done', signal: 'SIGKILL' }, 'ran', 'run.signal'],
    ['a file was changed', { outcome: 'allow' }, { outcome: 'done' }, 'ran', 'run.done'],
    ['a file was not changed after all', { outcome: 'allow' }, { outcome: 'done', failure: 'file_changed' }, 'failed', 'run.failed'],
    ['ran, and its record failed', { outcome: 'allow' }, { outcome: 'done', exit: 0, failure: 'receipt_failed' }, 'ran', 'run.good'],
    ['left to the agent', { outcome: 'allow' }, { state: 'released' }, 'let', 'run.released'],
    ['the agent told', { outcome: 'allow' }, { outcome: 'reported' }, 'ran', 'run.reported'],
    ['the agent told nothing', { outcome: 'allow' }, { outcome: 'unreported' }, 'let', 'run.unreported'],
    ['could not start', { outcome: 'allow' }, { outcome: 'failed' }, 'failed', 'run.failed'],
    ['the core stopped', { outcome: 'allow' }, { outcome: 'unknown' }, 'unknown', 'run.unknown'],
    ['allowed, then not used', { outcome: 'allow' }, { outcome: 'expired' }, 'let', 'run.expired'],
    ['nobody answered', { outcome: 'expired' }, { outcome: 'expired' }, 'wanted', ''],
    ['withdrawn', { outcome: 'cancelled' }, { outcome: 'cancelled' }, 'wanted', ''],
    ['closed, nobody knows how', {}, null, 'wanted', ''],
  ])('%s', (_, asked, call, fate, run) => {
    const q = question({ state: 'closed', ...asked })
    const about = call as Call | null
    expect([fateOf(q, about), runKey(q, about)]).toEqual([fate, run])
  })
  it('is named by what it is', () => {
    expect([sentenceKey('bash', 'ran'), sentenceKey('edit', 'denied'), sentenceKey('web', 'wanted')]).toEqual(['card.ran.command', 'card.denied.write', 'card.wanted.tool'])
  })
  it.each([['owner/f1', 'here', 'end.by.here'], ['owner/f1', 'elsewhere', 'end.by.elsewhere'], ['owner/f1', null, 'end.by.owner'], ['other', 'elsewhere', 'end.by.other'], ['', null, '']] as const)('answered by %j %s: %s', (answerer, at, key) => {
    expect(endOf(question({ outcome: 'deny', answerer }), at).meaning).toBe(key)
  })
})
