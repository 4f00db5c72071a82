import { describe, expect, it } from 'vitest'
import type { Offer, Question } from '../wire/types.gen'
import type { Arming } from './arming'
import { allowLabel, cardButtons, onceOffer, standingOffers, type ButtonContext } from './buttons'
import { card, question, snapshot } from './question.fixture'
import { contentOf, isEnforced, isHighRisk } from './risk'

const once: Offer = { number: 1, scope: 'once' }
const standing: Offer = { number: 2, scope: 'session' }
const armed: Arming = { allow: 'armed', deny: 'armed', step: false, waitsFor: null, remaining_ms: 0, next_ms: null }
const context: ButtonContext = { arming: armed, mayAnswer: true, pending: null, stale: false }

function buttons(of: Question, more: Partial<ButtonContext> = {}, offer = once): string {
  return cardButtons(of, offer, { ...context, ...more }).map((b) => `${b.id}${b.armed ? '' : '-'}`).join(' ')
}

describe('the buttons', () => {
  const open = question()
  const cases: [string, Question, Partial<ButtonContext>, string][] = [
    ['armed', open, {}, 'deny deny_note allow allow_for'],
    ['nothing armed', open, { arming: { ...armed, allow: 'waiting', deny: 'waiting' } }, 'deny- deny_note allow- allow_for'],
    ['only Deny', open, { arming: { ...armed, allow: 'waiting' } }, 'deny deny_note allow- allow_for'],
    ['the second step', open, { arming: { ...armed, step: true } }, 'deny deny_note step_back confirm'],
    ['the second step waits', open, { arming: { ...armed, step: true, allow: 'waiting' } }, 'deny deny_note step_back confirm-'],
    ['a page that may only look', open, { mayAnswer: false }, 'deny- deny_note- allow- allow_for-'],
    ['an answer on its way', open, { pending: 'unknown' }, 'deny- deny_note- allow- allow_for-'],
    ['a stale file', open, { stale: true }, 'deny deny_note allow- allow_for refresh'],
    ['with an expiry', question({ expires_at: '2026-03-01T12:05:00Z' }), {}, 'deny deny_note allow allow_for extend'],
    ['not enforced: no scopes', question({ detail: card({ boundary: 'any' }) }), {}, 'deny deny_note allow'],
    ['only once is offered', question({ offers: [once] }), {}, 'deny deny_note allow'],
    ['no offers', question({ offers: null }), {}, 'deny deny_note allow'],
    ['closed', question({ state: 'closed' }), {}, ''],
  ]
  it.each(cases)('%s', (_name, of, more, want) => { expect(buttons(of, more)).toBe(want) })
  it('cannot allow what nobody has seen', () => {
    const { detail: _, ...brief } = question()
    expect(buttons(brief)).toBe('deny deny_note allow-')
  })
})

it('says what Allow would do', () => {
  expect(allowLabel(question(), once)).toBe('button.allow_once')
  expect(allowLabel(question(), standing)).toBe('button.allow_session')
  expect(allowLabel(question({ detail: card({ boundary: 'any' }) }), once)).toBe('button.run_unenforced')
  expect(onceOffer(question())).toEqual(once)
  expect(standingOffers(question()).map((o) => o.number)).toEqual([2])
})

describe('high risk', () => {
  const effective = snapshot({ policy: 'danger-full-access' })
  const { effective: _none, ...unbounded } = card()
  const brief = question({ detail: card({ args: {}, omitted: { env: 50_000 } }) })
  const cases: [string, Question, Offer, boolean][] = [
    ['an ordinary command', question(), once, false],
    ['medium', question({ risk: 'medium', detail: card({ risk: { level: 'medium', words: [] } }) }), once, false],
    ['a standing rule', question(), standing, true],
    ['not enforced', question({ detail: card({ boundary: 'any' }) }), once, true],
    ['a boundary nobody knows', question({ detail: card({ boundary: '' }) }), once, true],
    ['full access', question({ detail: card({ effective }) }), once, true],
    ['destructive', question({ risk: 'high' }), once, true],
    ['destructive by its card', question({ detail: card({ risk: { level: 'high', words: ['rm'] } }) }), once, true],
    ['a risk nobody knows', question({ risk: '' }), once, true],
    ['an opaque part', question({ detail: card({ parts: [{ text: 'x', words: [], state: 'opaque', start: 0, end: 0, why: '' }] }) }), once, true],
    ['opaque as a whole', question({ detail: card({ opaque: 'eval' }) }), once, true],
    ['outside of the roots', question({ reason: 'outside_roots' }), once, true],
    ['a dangerous path', question({ reason: 'dangerous_path' }), once, true],
    ['a file outside of the roots', question({ detail: card({ targets: ['/etc/passwd'] }) }), once, true],
    ['a file beside the root', question({ detail: card({ targets: ['/project/x'] }) }), once, true],
    ['a file in the root', question({ detail: card({ targets: ['/p/x'] }) }), once, false],
    // An argument too long to be shown was no risk: it could say anything.
    ['an argument that is not shown', brief, once, true],
    ['all arguments not shown', question({ detail: card({ omitted: { '': 50_000 } }) }), once, true],
    ['a long command, which is shown whole', question({ detail: card({ omitted: { command: 50_000 } }) }), once, false],
    ['a change of a file that is not known', question({ tool: 'write', detail: card({ tool: 'write', targets: ['/p/x'] }) }), once, true],
    // Without a sandbox that is known, everything passed for a file that the core writes.
    ['a tool that is said to run here without a boundary', question({ tool: 'web', detail: { ...unbounded, tool: 'web' } }), once, true],
    ['a boundary of what does not run here', question({ detail: card({ here: false }) }), once, true],
  ]
  it.each(cases)('%s', (_name, of, offer, want) => { expect(isHighRisk(of, { offer, roots: ['/p'], changes: null })).toBe(want) })
  it('is anything without its detail', () => {
    const { detail: _, ...brief } = question()
    expect(isHighRisk(brief, { offer: once, roots: [], changes: null })).toBe(true)
    expect(contentOf(brief, { offer: once, roots: [], stale: false, changes: null })).toMatchObject({ stale: true })
  })
  // Before the sessions were known, no file was outside.
  it('is a file while the roots are not known', () => {
    expect(isHighRisk(question({ detail: card({ targets: ['/p/x'] }) }), { offer: once, roots: [], changes: null })).toBe(true)
  })
  it('is judged by the boundary alone for the label', () => {
    expect([isEnforced(card()), isEnforced({ ...unbounded, tool: 'edit' }), isEnforced({ ...unbounded, tool: 'web' }), isEnforced(card({ here: false }))])
      .toEqual([true, true, false, false])
  })
})

it('makes another content of another version, offer or state of its files', () => {
  const chosen = { offer: once, roots: [], stale: false, changes: null }
  const first = contentOf(question(), chosen)
  expect(first).toMatchObject({ highRisk: false, needsEnd: true, stale: false })
  // The end of a tool without a command was nobody's business, and Allow was ready far above it.
  const { command: _, ...other } = card({ tool: 'web', args: { text: 'x' } })
  expect(contentOf(question({ tool: 'web', detail: other }), chosen).needsEnd).toBe(true)
  expect(contentOf(question({ version: 2 }), chosen).key).not.toBe(first.key)
  expect(contentOf(question(), { ...chosen, offer: standing }).key).not.toBe(first.key)
  expect(contentOf(question(), { ...chosen, stale: true }).stale).toBe(true)
})
