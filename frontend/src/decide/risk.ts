// Which cards need the long wait and the second step.
import type { Card, Offer, Question } from '../wire/types.gen'
import type { Content } from './arming'

const scopeOnce = 'once'
const enforced = 'enforced'
const fullAccess = 'danger-full-access'
const outsideReasons: ReadonlySet<string> = new Set(['outside_roots', 'dangerous_path'])
const calmRisks: ReadonlySet<string> = new Set(['low', 'medium'])

/** Whether the call would run within a boundary of ours. Where it would not, the button says so and scopes are hidden. */
export function isEnforced(card: Card): boolean {
  return card.boundary === enforced && card.effective?.policy !== fullAccess
}

/** Whether an absolute path lies in one of the roots. Without roots nothing is known to be outside. */
function outside(path: string, roots: readonly string[]): boolean {
  if (roots.length === 0) return false
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
}

/** Whether an allow is risky. What is not known is risky. */
export function isHighRisk(question: Question, chosen: Pick<Chosen, 'offer' | 'roots'>): boolean {
  const card = question.detail
  if (card === undefined || !isEnforced(card)) return true
  if (chosen.offer.scope !== scopeOnce) return true
  if (!calmRisks.has(question.risk) || !calmRisks.has(card.risk.level)) return true
  if ((card.opaque ?? '') !== '' || (card.parts ?? []).some((part) => part.state === 'opaque')) return true
  return outsideReasons.has(question.reason) || (card.targets ?? []).some((path) => outside(path, chosen.roots))
}

/** What the arming of a card depends on. A card without its detail cannot be allowed: nobody has seen what it is. */
export function contentOf(question: Question, chosen: Chosen): Content {
  return {
    key: [question.id, question.version, chosen.offer.number, question.detail === undefined ? 'brief' : 'whole'].join(' '),
    highRisk: isHighRisk(question, chosen),
    needsEnd: (question.detail?.command ?? '') !== '',
    stale: chosen.stale || question.detail === undefined,
  }
}
