import { describe, expect, it } from 'vitest'
import type { Card, CapabilitySnapshot, Question } from '../wire/types.gen'
import { allowKey, argumentList, baseName, boundaryKind, boundaryTone, cautions, deniedInside, endOf, partReason, sumUp } from './model'

const card = (fields: Partial<Card>) => ({ agent: 'claude', tool: 'bash', here: false, boundary: 'any', risk: { level: 'low', words: [] }, ...fields }) as Card
const effective = (policy: string) => ({ policy }) as CapabilitySnapshot
const question = (fields: Partial<Question>) => ({ tool: 'bash', risk: 'low', reason: 'approval_required', ...fields }) as Question

describe('the boundary of a card', () => {
  it.each<[string, Card, string, string, string]>([
    ['in the sandbox', card({ here: true, boundary: 'enforced', effective: effective('workspace-write') }), 'enforced', 'good', 'button.allow_once'],
    ['a checked write', card({ here: true, boundary: 'enforced' }), 'write', 'good', 'button.allow_once'],
    ['run by the agent', card({}), 'agent', 'care', 'button.let_run'],
    ['without sandbox', card({ here: true, boundary: 'enforced', effective: effective('danger-full-access') }), 'unbounded', 'care', 'button.run_unenforced'],
    ['here, and no boundary was shown', card({ here: true, effective: effective('workspace-write') }), 'unbounded', 'care', 'button.run_unenforced'],
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
    expect(cautions(question({ risk: 'high', reason: 'outside_roots', detail: card({ opaque: 'a pipe' }) }), true))
      .toEqual(['caution.agent', 'caution.risk', 'caution.opaque', 'caution.outside_roots', 'caution.rule'])
  })
  it('is never empty', () => {
    expect(cautions(question({ detail: card({ here: true, boundary: 'enforced' }) }), false)).toEqual(['caution.other'])
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
  it('are whole, sorted, and without what is shown elsewhere', () => {
    expect(argumentList({ b: { x: 1 }, description: 'd', command: 'ls', a: 'text' }, ['command'])).toEqual([['a', 'text'], ['b', '{\n "x": 1\n}']])
  })
  it('says how long one is that the core left out', () => {
    expect(argumentList({ path: 'a', content: { omitted_bytes: 70000 } }, [])).toEqual([['content', 'not shown: 70000 bytes'], ['path', 'a']])
    expect(argumentList({ omitted_bytes: 70000 }, ['command'])).toEqual([])
    expect(argumentList({ omitted_bytes: 70000 }, [])).toEqual([['', 'not shown: 70000 bytes']])
  })
  it.each([null, undefined])('none for %s', (args) => expect(argumentList(args, [])).toEqual([]))
})

describe('parts and ends', () => {
  it('tells a rule from a safe read', () => {
    expect(partReason({ text: '', words: [], state: 'covered', why: 'bash(ls)' } as never).key).toBe('part.by_rule')
    expect(partReason({ text: '', words: [], state: 'covered', why: 'safe_read' } as never).key).toBe('part.safe_read')
  })
  it('never tells a time-out as a denial', () => expect(endOf(question({ outcome: 'expired' })).key).toBe('end.expired'))
})
