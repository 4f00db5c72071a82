// What the open card can do: it joins the guard of its buttons, the chosen scope and the note, and sends the owner's acts
// through the store. One control per opened question.
import { tick } from 'svelte'
import { cardButtons, onceOffer, standingOffers, type ButtonId, type CardButton } from '../decide/buttons'
import { Guard, type Act } from '../decide/guard.svelte'
import { contentOf } from '../decide/risk'
import { shownElsewhere, unseen } from '../decide/shown'
import { desk } from '../state/desk.svelte'
import type { Changes, Offer, Question } from '../wire/types.gen'
import { Ends } from './ends.svelte'
import { isWrite } from './model'

/** Which panel stands above the bar. */
export type Panel = 'none' | 'note' | 'scope'

/** The core takes at most so many bytes of a note. */
export const maxNote = 4096

const nothing: Offer = { number: 0, scope: 'once' }

export class CardControl {
  readonly guard = new Guard()
  readonly ends = new Ends()
  question: Question = $state.raw() as Question
  panel: Panel = $state('none')
  note: string = $state('')
  stopTurn: boolean = $state(false)
  /** Number of the scope that the review chose; 0: this call only. */
  chosen: number = $state(0)
  changes: Changes | null = $state.raw(null)
  changesState: 'none' | 'loading' | 'known' | 'failed' = $state('none')
  diffOpen: boolean = $state(true)
  traceOpen: boolean = $state(false)
  /** How often the changes were asked for: each answer is another text to be read. */
  #loads: number = $state(0)
  #text = ''

  readonly card = $derived(this.question.detail ?? null)
  readonly open = $derived(this.question.state === 'open')
  readonly pending = $derived(desk.pendingAnswer(this.question.id))
  readonly stale = $derived(this.changes?.files?.some((f) => f.stale === true) === true)
  /** The arguments that the card shows in another form, and what it cannot show. */
  readonly elsewhere = $derived(this.card === null ? new Set<string>() : shownElsewhere(this.card, this.changes))
  readonly unseen = $derived(this.card === null ? { argument: true, change: true } : unseen(this.card, this.changes))
  /** The note goes with an answer only while its panel is open, or the second step shows it. */
  readonly noteGoes = $derived(this.panel === 'note' ? this.note.trim() : '')
  readonly standing = $derived(standingOffers(this.question))
  readonly offer = $derived(this.standing.find((o) => o.number === this.chosen) ?? onceOffer(this.question) ?? nothing)
  readonly noteSize = $derived(new TextEncoder().encode(this.note).length)
  readonly buttons = $derived(cardButtons(this.question, this.offer, {
    arming: this.guard.view, mayAnswer: desk.mayAnswer, pending: this.pending, stale: this.stale,
  }))
  /** The panels and menus act while nothing was sent and this page may answer. */
  readonly free = $derived(this.open && desk.mayAnswer && this.pending === null)

  /** The panel was opened by a gesture on this card, so that it may take the focus. */
  asked = false

  constructor(question: Question) {
    this.question = question
    // A note that goes with the answer must be in sight.
    this.note = desk.drafts.of(question.id)
    if (this.note !== '') this.panel = 'note'
  }

  button(id: ButtonId): CardButton | undefined { return this.buttons.find((b) => b.id === id) }

  /** Tells the guard what is on the screen, and whether all of it was. */
  shows(): void {
    const roots = desk.sessions.find((s) => s.id === this.question.session)?.roots ?? []
    const content = contentOf(this.question, { offer: this.offer, roots, stale: this.stale, changes: this.changes })
    const loading = isWrite(this.question.tool) && (this.changesState === 'none' || this.changesState === 'loading')
    const text = [this.question.version, this.card === null ? 'brief' : 'whole', this.#loads, this.changesState].join(' ')
    this.guard.content({ ...content, key: `${content.key} ${text}` })
    if (text !== this.#text) {
      this.#text = text
      this.ends.restart()
    }
    // Another scope of the same text: its end was seen already.
    if (this.ends.all && !loading) this.guard.endShown()
  }

  /** A click or a chord on a deciding button, as the guard judged it. */
  acted(decides: 'allow' | 'deny', act: Act): void {
    if (act !== 'decides') return
    if (!this.free || (this.noteGoes !== '' && this.noteSize > maxNote)) { this.guard.released(); return }
    void (decides === 'allow' ? this.#allow() : this.#deny())
  }

  async #allow(): Promise<void> {
    if (!await desk.allow(this.question, this.offer.number, this.noteGoes || undefined)) this.guard.released()
  }

  async #deny(): Promise<void> {
    const stopTurn = this.panel === 'note' && this.stopTurn
    if (!await desk.deny(this.question, this.noteGoes || undefined, stopTurn)) this.guard.released()
  }

  /** Opens a panel. The scope review chooses the first scope there is; it grants nothing by itself. */
  show(panel: Panel): void {
    if (panel !== 'none' && !this.free) return
    this.asked = true
    this.panel = panel
    this.chosen = panel === 'scope' ? this.standing[0]?.number ?? 0 : 0
    this.guard.stepBack()
    if (panel === 'none') void tick().then(() => document.getElementById('card-title')?.focus())
  }

  /** One step back: from the second step, or from a panel. False when there was none. */
  back(): boolean {
    if (this.guard.stepBack()) return true
    if (this.panel === 'none') return false
    this.show('none')
    return true
  }

  async loadChanges(): Promise<void> {
    if (!isWrite(this.question.tool)) return
    this.changesState = 'loading'
    this.changes = await desk.changes(this.question)
    this.#loads++
    this.changesState = this.changes === null ? 'failed' : 'known'
  }
}
