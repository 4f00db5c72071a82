// Which cards need the long wait and the second step.
import type { Card, Changes, Offer, Question } from '../wire/types.gen'
import type { Content } from './arming'
import { unseen } from './shown'
import { isWrite } from './tools'

const scopeOnce = 'once'
const enforced = 'enforced'
const fullAccess = 'danger-full-access'
const outsideReasons: ReadonlySet<string> = new Set(['outside_roots', 'dangerous_path'])
const calmRisks: ReadonlySet<string> = new Set(['low', 'medium'])

/** Whether the call would run within a boundary of ours. Where it would not, the button says so and scopes are hidden. Only
 * a change of a file is held without a sandbox: the core writes it. */
export function isEnforced(card: Card): boolean {
  if (!card.here || card.boundary !== enforced) return false
  return card.effective === undefined ? isWrite(card.tool) : card.effective.policy !== fullAccess
}

/** Whether an absolute path lies outside of all roots. Without roots nothing is known to be inside. */
function outside(path: string, roots: readonly string[]): boolean {
  return !roots.some((root) => {
    const top = root.replace(/[/\\]+$/, '')
    return path === root || path === top || path.startsWith(top + '/') || path.startsWith(top + '\\')
  })
}

export interface Chosen {
  /** The offer that Allow would take. */
  readonly offer: Offer
  /** The roots of the question's session, when they are known. */
  readonly roots: readonly string[]
  /** A file is no longer what it was when the call was proposed. */
  readonly stale: boolean
  /** What the call would change, null while it is not known. */
  readonly changes: Changes | null
}

/** Whether an allow is risky. What is not known is risky. */
export function isHighRisk(question: Question, chosen: Pick<Chosen, 'offer' | 'roots' | 'changes'>): boolean {
  const card = question.detail
  if (card === undefined || !isEnforced(card)) return true
  if (chosen.offer.scope !== scopeOnce) return true
  if (!calmRisks.has(question.risk) || !calmRisks.has(card.risk.level)) return true
  if ((card.opaque ?? '') !== '' || (card.parts ?? []).some((part) => part.state === 'opaque')) return true
  const missing = unseen(card, chosen.changes)
  if (missing.argument || missing.change) return true
  return outsideReasons.has(question.reason) || (card.targets ?? []).some((path) => outside(path, chosen.roots))
}

/** What the arming of a card depends on. A card without its detail cannot be allowed: nobody has seen what it is. Every card
 * has an end, also one of a tool without a command. */
export function contentOf(question: Question, chosen: Chosen): Content {
  return {
    key: [question.id, question.version, chosen.offer.number, question.detail === undefined ? 'brief' : 'whole'].join(' '),
    highRisk: isHighRisk(question, chosen),
    needsEnd: true,
    stale: chosen.stale || question.detail === undefined,
  }
}
