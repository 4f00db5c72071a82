// What the keys do. The table of keys is in decide/keys; this is what each of its commands means on the page.
import { tick } from 'svelte'
import { current } from '../card/current.svelte'
import { commandOf, type Command, type Focus } from '../decide/keys'
import { order } from '../inbox/order.svelte'
import { desk, type Page } from '../state/desk.svelte'
import { isMac } from './chords'

export interface PageActs { readonly help: () => void }

const pages: Readonly<Partial<Record<Command, Page>>> = {
  page_inbox: 'inbox', page_sessions: 'sessions', page_projects: 'projects', page_receipts: 'receipts', page_settings: 'settings',
}

/** Where the focus is: the nearest element that says so; a text field is one wherever it stands. */
export function focusOf(target: EventTarget | null): Focus {
  if (!(target instanceof Element)) return 'other'
  const named = target.closest<HTMLElement>('[data-focus]')?.dataset['focus']
  if (target.matches('textarea, select, input:not([type="checkbox"]):not([type="radio"])')) return named === 'note' ? 'note' : 'text'
  return named === 'list' || named === 'card' ? named : 'other'
}

function move(step: 1 | -1, focus: Focus): void {
  const id = order.beside(desk.selected, step)
  if (desk.page !== 'inbox' || id === null) return
  desk.select(id)
  if (focus === 'card') void tick().then(() => document.getElementById('card-title')?.focus())
}

/** Reads the open card's sentence again, by giving it the focus anew. */
function repeat(): void {
  const title = document.getElementById('card-title')
  title?.blur()
  title?.focus()
}

function back(): void {
  if (current.control?.back() === true) return
  const list = document.getElementById('inbox-list')
  if (document.activeElement === list || list === null) desk.select(null)
  else if (list.offsetParent === null) { desk.select(null); void tick().then(() => document.getElementById('inbox-list')?.focus()) }
  else list.focus()
}

/** Does what the keys ask for. True: they were a command, and the page's own meaning of them is not wanted. */
export function keyDown(event: KeyboardEvent, acts: PageActs): boolean {
  const focus = focusOf(event.target)
  const command = commandOf(event, { mac: isMac(), focus, letters: desk.preferences.letters })
  if (command === null) return false
  const page = pages[command]
  if (page !== undefined) { desk.go(page); return true }
  const control = desk.page === 'inbox' ? current.control : null
  switch (command) {
    // While the scope review is open its own button allows; the chord would be a guess at what was meant.
    case 'allow_once': if (control !== null && (control.panel !== 'scope' || control.guard.view.step)) control.acted('allow', control.guard.act('allow', event)); return true
    case 'deny': if (control !== null) control.acted('deny', control.guard.act('deny', event)); return true
    case 'send_note': if (control !== null) control.acted('deny', control.guard.act('deny', event)); return true
    case 'scope_review': if (control !== null && control.standing.length > 0) control.show('scope'); return true
    case 'deny_note': case 'comment': control?.show('note'); return control !== null
    case 'expand': if (control !== null) control.traceOpen = !control.traceOpen; return control !== null
    case 'diff': if (control !== null) control.diffOpen = !control.diffOpen; return control !== null
    case 'next': move(1, focus); return true
    case 'previous': move(-1, focus); return true
    case 'repeat_aloud': repeat(); return true
    case 'back': back(); return true
    case 'help': acts.help(); return true
  }
  return false
}
