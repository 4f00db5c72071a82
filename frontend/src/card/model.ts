// What a card says about a call: which words, which tone. It decides nothing; the core did, or a person will.
import type { ShapeName } from '../look/Shape.svelte'
import { has, t } from '../text/i18n'
import type { CapabilitySnapshot, Card, Part, Question } from '../wire/types.gen'

export type Tone = 'good' | 'care' | 'poor'
export type BoundaryKind = 'enforced' | 'write' | 'unbounded' | 'agent'

/** An agent by the name people know it by; one that the catalogue does not know is shown as it is. */
export const agentName = (agent: string): string => has(`agent.${agent}`) ? t(`agent.${agent}`) : agent

const commandTools = new Set(['bash', 'powershell'])
const writeTools = new Set(['write', 'edit', 'apply_patch'])
export const isCommand = (tool: string): boolean => commandTools.has(tool)
export const isWrite = (tool: string): boolean => writeTools.has(tool)

/** The last name of a path, on any system. */
export const baseName = (path: string): string => path.split(/[\\/]/).filter((p) => p !== '').at(-1) ?? path

/** The key of the sentence that labels a card. */
export function sentenceKey(tool: string): string {
  if (isCommand(tool)) return 'card.sentence.command'
  return isWrite(tool) ? 'card.sentence.write' : 'card.sentence.tool'
}

/** Which of four things holds the call. */
export function boundaryKind(card: Card): BoundaryKind {
  if (!card.here) return 'agent'
  if (card.effective === undefined) return 'write'
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

/** Arguments that the changes of files show already. */
export const writtenArguments: readonly string[] = ['path', 'file_path', 'notebook_path', 'content', 'old_string', 'new_string', 'new_source', 'edits']

/** Arguments one by one, whole, but for those that the card shows in another form. */
export function argumentList(args: unknown, shown: readonly string[]): [string, string][] {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args == null ? [] : [['', JSON.stringify(args)]]
  if ('omitted_bytes' in args) return shown.length > 0 ? [] : [['', argumentText(args)]]
  return Object.entries(args)
    .filter(([name]) => name !== 'description' && !shown.includes(name))
    .sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, value]) => [name, argumentText(value)])
}

/** A value as text; one that the core left out for its length says how long it is. */
function argumentText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null && 'omitted_bytes' in value) return t('card.args.omitted', { bytes: String(value.omitted_bytes) })
  return JSON.stringify(value, null, 1)
}

export interface End { readonly key: string; readonly meaning: string; readonly shape: ShapeName; readonly tone: 'good' | 'poor' | '' }

/** How a closed question ended. A time-out is never told as a denial. */
export function endOf(q: Question): End {
  const elsewhere = q.answerer !== undefined && q.answerer !== '' ? `end.by.${q.answerer.startsWith('owner') ? 'owner' : 'other'}` : ''
  switch (q.outcome) {
    case 'allow': return { key: (q.offer ?? 1) > 1 ? 'end.allow_rule' : 'end.allow', meaning: elsewhere, shape: 'check', tone: 'good' }
    case 'deny': return { key: q.comment ? 'end.deny_note' : 'end.deny', meaning: elsewhere, shape: 'cross', tone: 'poor' }
    case 'expired': return { key: 'end.expired', meaning: 'end.expired.means', shape: 'dash', tone: '' }
    case 'cancelled': return { key: 'end.cancelled', meaning: 'end.cancelled.means', shape: 'dash', tone: '' }
    case 'origin_gone': return { key: 'end.origin_gone', meaning: 'end.origin_gone.means', shape: 'dash', tone: '' }
    case 'answered_in_agent': return { key: 'end.in_agent', meaning: 'end.in_agent.means', shape: 'dash', tone: '' }
  }
  return { key: 'end.other', meaning: 'end.other.means', shape: 'dash', tone: '' }
}

/** The facts that make a second step necessary, as keys. rule: something would be remembered. */
export function cautions(q: Question, rule: boolean): string[] {
  const card = q.detail
  if (card === undefined) return []
  const kind = boundaryKind(card)
  const list: string[] = []
  if (kind === 'agent' || kind === 'unbounded') list.push(`caution.${kind}`)
  if (q.risk === 'high' || card.risk.level === 'high') list.push('caution.risk')
  if ((card.parts ?? []).some((p) => p.state === 'opaque') || (card.opaque ?? '') !== '') list.push('caution.opaque')
  if (q.reason === 'outside_roots' || q.reason === 'dangerous_path') list.push(`caution.${q.reason}`)
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
