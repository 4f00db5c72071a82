// The buttons of a card as data: which there are, when each counts, and what it says.
import type { Offer, Question } from '../wire/types.gen'
import type { Pending } from '../state/types'
import type { Arming } from './arming'
import { isEnforced } from './risk'

export type ButtonId = 'deny' | 'deny_note' | 'allow' | 'allow_for' | 'confirm' | 'step_back' | 'extend' | 'refresh'

export interface CardButton {
  readonly id: ButtonId
  /** Catalogue key of its label. */
  readonly label: string
  /** Its key as keyHelp prints it. */
  readonly keys: readonly string[]
  /** decides: the click goes through the guard. opens: it only shows something. */
  readonly role: 'refuses' | 'decides' | 'opens'
  /** Whose waiting it follows; null: it acts at any time. */
  readonly armedBy: 'allow' | 'deny' | null
  readonly armed: boolean
}

export interface ButtonContext {
  readonly arming: Arming
  readonly mayAnswer: boolean
  readonly pending: Pending
  /** A file changed since the proposal. */
  readonly stale: boolean
}

/** The offers of a question that say more than "once", which a card hides where nothing is enforced. */
export function standingOffers(question: Question): readonly Offer[] {
  if (question.detail === undefined || !isEnforced(question.detail)) return []
  return (question.offers ?? []).filter((offer) => offer.scope !== 'once')
}

/** The offer to allow this one call. */
export function onceOffer(question: Question): Offer | null {
  return (question.offers ?? []).find((offer) => offer.scope === 'once') ?? null
}

/** What the Allow button says for an offer. */
export function allowLabel(question: Question, offer: Offer): string {
  if (question.detail === undefined || !isEnforced(question.detail)) return 'button.run_unenforced'
  return offer.scope === 'once' ? 'button.allow_once' : `button.allow_${offer.scope}`
}

/** The buttons in their order. They stay where they are while they wait; a closed question has none. */
export function cardButtons(question: Question, chosen: Offer, context: ButtonContext): readonly CardButton[] {
  if (question.state !== 'open') return []
  const free = context.mayAnswer && context.pending === null
  const { arming } = context
  const denies = free && arming.deny === 'armed'
  const allows = free && question.detail !== undefined && !context.stale && arming.allow !== 'waiting'
  const list: CardButton[] = [
    { id: 'deny', label: 'button.deny', keys: ['Mod', 'Backspace'], role: 'refuses', armedBy: 'deny', armed: denies },
    { id: 'deny_note', label: 'button.deny_note', keys: ['Mod', 'Shift', 'Backspace'], role: 'opens', armedBy: null, armed: free },
  ]
  if (arming.step) {
    list.push(
      { id: 'step_back', label: 'button.step_back', keys: ['Esc'], role: 'opens', armedBy: null, armed: free },
      { id: 'confirm', label: confirmLabel(question, chosen), keys: ['Mod', 'Enter'], role: 'decides', armedBy: 'allow', armed: allows },
    )
  } else {
    list.push({ id: 'allow', label: allowLabel(question, chosen), keys: ['Mod', 'Enter'], role: 'decides', armedBy: 'allow', armed: allows })
    if (standingOffers(question).length > 0) {
      list.push({ id: 'allow_for', label: 'button.allow_for', keys: ['Mod', 'Shift', 'Enter'], role: 'opens', armedBy: null, armed: free })
    }
  }
  if (context.stale) list.push({ id: 'refresh', label: 'button.refresh', keys: [], role: 'opens', armedBy: null, armed: true })
  if ((question.expires_at ?? '') !== '') {
    list.push({ id: 'extend', label: 'button.extend', keys: [], role: 'opens', armedBy: null, armed: free })
  }
  return list
}

function confirmLabel(question: Question, chosen: Offer): string {
  if (question.detail === undefined || !isEnforced(question.detail)) return 'button.confirm_unenforced'
  return chosen.scope === 'once' ? 'button.confirm_once' : `button.confirm_${chosen.scope}`
}
