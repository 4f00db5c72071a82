// What a card says about a call: which words, which tone. It decides nothing; the core did, or a person will.
import type { ShapeName } from '../look/Shape.svelte'
import { has, t } from '../text/i18n'
import { argsOf, type Unseen } from '../decide/shown'
import { isCommand, isWrite } from '../decide/tools'
import type { AnsweredAt } from '../state/desk.svelte'
import type { Call, CapabilitySnapshot, Card, Part, Question } from '../wire/types.gen'

export type Tone = 'good' | 'care' | 'poor'
export type BoundaryKind = 'enforced' | 'write' | 'unbounded' | 'agent'

/** An agent by the name people know it by; one that the catalogue does not know is shown as it is. */
export const agentName = (agent: string): string => has(`agent.${agent}`) ? t(`agent.${agent}`) : agent

export { isCommand, isWrite } from '../decide/tools'

/** The last name of a path, on any system. */
export const baseName = (path: string): string => path.split(/[\\/]/).filter((p) => p !== '').at(-1) ?? path

/** What is known of a call that was asked about: it waits, or how far it came. */
export type Fate = 'sentence' | 'wanted' | 'denied' | 'let' | 'running' | 'ran' | 'failed' | 'unknown'

/** Never more than is known: that something was allowed does not say that it ran. */
export function fateOf(q: Question, call: Call | null): Fate {
  if (q.state === 'open') return 'sentence'
  if (q.outcome === 'deny') return 'denied'
  if (q.outcome !== 'allow') return 'wanted'
  switch (call?.outcome) {
    // A change of a file that was refused at the last moment is done too, with what went wrong.
    case 'done': return (call.failure ?? '') === '' || call.failure === 'receipt_failed' ? 'ran' : 'failed'
    case 'reported': return 'ran'
    case 'failed': return 'failed'
    case 'unknown': return 'unknown'
  }
  return call?.state === 'running' ? 'running' : 'let'
}

/** The key of the sentence that labels a card. */
export function sentenceKey(tool: string, fate: Fate = 'sentence'): string {
  return `card.${fate}.${isCommand(tool) ? 'command' : isWrite(tool) ? 'write' : 'tool'}`
}

/** How a call went that was answered, as a key; '' where the card's sentence says it all. */
export function runKey(q: Question, call: Call | null): string {
  if (q.outcome === 'deny') return 'run.not'
  if (q.outcome !== 'allow' || call === null) return ''
  switch (call.outcome) {
    case 'done':
      if (fateOf(q, call) === 'failed') return 'run.failed'
      if ((call.signal ?? '') !== '') return 'run.signal'
      return call.exit === undefined ? 'run.done' : call.exit === 0 ? 'run.good' : 'run.exit'
    case 'reported': case 'unreported': case 'unknown': case 'failed': case 'expired': case 'cancelled': case 'origin_gone': return `run.${call.outcome}`
  }
  if (call.state === 'running') return 'run.running'
  return call.state === 'released' ? 'run.released' : 'run.not_yet'
}

/** Which of four things holds the call. Without a sandbox that is known, only a change of a file is done by the core. */
export function boundaryKind(card: Card): BoundaryKind {
  if (!card.here) return 'agent'
  if (card.effective === undefined) return isWrite(card.tool) ? 'write' : 'agent'
  return card.boundary !== 'enforced' || card.effective.policy === 'danger-full-access' ? 'unbounded' : 'enforced'
}
export const boundaryTone = (kind: BoundaryKind): Tone => kind === 'enforced' || kind === 'write' ? 'good' : 'care'

/** Part states with the word for each; a state of a later version shows as one that cannot be analysed. */
const partStates = new Set(['covered', 'new', 'opaque'])
export const partKey = (part: Part): string => `part.${partStates.has(part.state) ? part.state : 'opaque'}`

/** Why a part has its state: a key, with text of others where there is some. */
export function partReason(part: Part): { key: string; text: string; code: boolean } {
  const why = part.why ?? ''
  if (part.state === 'covered') {
    if (why === '' || why === 'safe_read') return { key: 'part.safe_read', text: '', code: false }
    return why === 'accept_edits' ? { key: 'part.accept_edits', text: '', code: false } : { key: 'part.by_rule', text: why, code: true }
  }
  if (part.state === 'new') return { key: 'part.no_rule', text: '', code: false }
  return { key: why === '' ? 'part.unknown_why' : 'part.because', text: why, code: false }
}

const systemRoots = new Set(['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'etc', 'opt', 'dev', 'proc', 'sys', 'nix', 'System', 'Library'])

/** A list of directories with the system's own summed up. */
export function sumUp(roots: readonly string[]): { own: string[]; system: boolean } {
  const isSystem = (root: string): boolean => {
    if (/^[A-Za-z]:[\\/](Windows|Program Files)/.test(root)) return true
    return root.startsWith('/') && systemRoots.has(root.split('/')[1] ?? '')
  }
  return { own: roots.filter((r) => !isSystem(r)), system: roots.some(isSystem) }
}

const below = (path: string, root: string): boolean => path.startsWith(root.endsWith('/') ? root : root + '/') || path.startsWith(root + '\\')

/** What is kept out of the directories that may be written, shown relative to them. */
export function deniedInside(effective: CapabilitySnapshot): string[] {
  const roots = effective.write_roots ?? []
  const inside: string[] = []
  for (const path of effective.denied_roots ?? []) {
    const root = roots.find((r) => below(path, r))
    if (root !== undefined) inside.push(path.slice(root.length).replace(/^[\\/]/, ''))
  }
  return inside
}

const networks = new Set(['off', 'proxied', 'open'])
export const networkKey = (network: string): string => `network.${networks.has(network) ? network : 'unknown'}`
export const reasonKey = (reason: string): string => has(`why.${reason}`) ? `why.${reason}` : 'why.unknown'
export const answerKey = (answer: string): string => {
  const key = `answer.${answer.replaceAll(' ', '_')}`
  return has(key) ? key : 'answer.unknown'
}

/** One argument as it is shown. Without its value: the core left it out for its length, so many bytes. */
export interface ShownArgument { readonly name: string; readonly value: string; readonly leftOut: number | null }

/** Arguments one by one, whole, but for those that the card shows in another form; those that were left out stand last. What
 * was left out is only what the core says beside the arguments: anything in them is the agent's. */
export function argumentList(card: Card, shown: ReadonlySet<string>): ShownArgument[] {
  const byName = (a: ShownArgument, b: ShownArgument): number => a.name < b.name ? -1 : 1
  const isObject = typeof card.args === 'object' && card.args !== null && !Array.isArray(card.args)
  const list = isObject ? Object.entries(argsOf(card)).filter(([name]) => !shown.has(name)).map(([name, value]) => ({ name, value: argumentText(value), leftOut: null }))
    : card.args == null ? [] : [{ name: '', value: JSON.stringify(card.args), leftOut: null }]
  const leftOut = Object.entries(card.omitted ?? {}).filter(([name]) => !shown.has(name)).map(([name, size]) => ({ name, value: '', leftOut: size }))
  return [...list.sort(byName), ...leftOut.sort(byName)]
}

const argumentText = (value: unknown): string => typeof value === 'string' ? value : JSON.stringify(value, null, 1)

export interface End { readonly key: string; readonly meaning: string; readonly shape: ShapeName; readonly tone: 'good' | 'poor' | '' }

/** How a closed question ended. A time-out is never told as a denial. at: where this page saw it answered. */
export function endOf(q: Question, at: AnsweredAt | null = null): End {
  const by = (q.answerer ?? '') === '' ? '' : q.answerer?.startsWith('owner') === true ? `end.by.${at ?? 'owner'}` : 'end.by.other'
  switch (q.outcome) {
    case 'allow': return { key: (q.offer ?? 1) > 1 ? 'end.allow_rule' : 'end.allow', meaning: by, shape: 'check', tone: 'good' }
    case 'deny': return { key: q.comment ? 'end.deny_note' : 'end.deny', meaning: by, shape: 'cross', tone: 'poor' }
    case 'expired': return { key: 'end.expired', meaning: 'end.expired.means', shape: 'dash', tone: '' }
    case 'cancelled': return { key: 'end.cancelled', meaning: 'end.cancelled.means', shape: 'dash', tone: '' }
    case 'origin_gone': return { key: 'end.origin_gone', meaning: 'end.origin_gone.means', shape: 'dash', tone: '' }
    case 'answered_in_agent': return { key: 'end.in_agent', meaning: 'end.in_agent.means', shape: 'dash', tone: '' }
  }
  return { key: 'end.other', meaning: 'end.other.means', shape: 'dash', tone: '' }
}

/** The facts that make a second step necessary, as keys. rule: something would be remembered. */
export function cautions(q: Question, rule: boolean, unseen: Unseen): string[] {
  const card = q.detail
  if (card === undefined) return []
  const kind = boundaryKind(card)
  const list: string[] = []
  if (kind === 'agent' || kind === 'unbounded') list.push(`caution.${kind}`)
  if (q.risk === 'high' || card.risk.level === 'high') list.push('caution.risk')
  if ((card.parts ?? []).some((p) => p.state === 'opaque') || (card.opaque ?? '') !== '') list.push('caution.opaque')
  if (q.reason === 'outside_roots' || q.reason === 'dangerous_path') list.push(`caution.${q.reason}`)
  if (unseen.argument) list.push('caution.argument')
  if (unseen.change) list.push('caution.change')
  if (rule) list.push('caution.rule')
  return list.length > 0 ? list : ['caution.other']
}

/** What the Allow button of a card says: never more than is so. */
export function allowKey(q: Question): string {
  const kind = q.detail === undefined ? 'agent' : boundaryKind(q.detail)
  if (boundaryTone(kind) === 'good') return 'button.allow_once'
  if (kind === 'unbounded') return 'button.run_unenforced'
  return isCommand(q.tool) ? 'button.let_run' : 'button.let_do'
}
