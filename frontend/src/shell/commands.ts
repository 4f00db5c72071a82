// What the keys do. The table of keys is in decide/keys; this is what each of its commands means on the page.
import { tick } from 'svelte'
import { current } from '../card/current.svelte'
import { commandOf, type Command, type Focus } from '../decide/keys'
import { order } from '../inbox/order.svelte'
import { desk, type Page } from '../state/desk.svelte'
import { isMac } from './chords'
import { focusOf, focusPage, inSight, stepRows } from './focus'

export interface PageActs { readonly help: () => void }

const pages: Readonly<Partial<Record<Command, Page>>> = {
  page_inbox: 'inbox', page_sessions: 'sessions', page_projects: 'projects', page_receipts: 'receipts', page_settings: 'settings',
}

/** Goes to another row. From the card the next one is opened with its title; from everywhere else the list has the focus. */
function move(step: 1 | -1, focus: Focus): boolean {
  if (desk.page !== 'inbox') return stepRows(desk.page, step, focus)
  const id = order.beside(desk.selected, step)
  if (id === null) return false
  desk.select(id)
  if (focus === 'card') void tick().then(() => document.getElementById('card-title')?.focus())
  else if (focus !== 'list') void focusPage('inbox')
  return true
}

/** Reads the open card's sentence again, by giving it the focus anew. */
function repeat(): void {
  const title = document.getElementById('card-title')
  title?.blur()
  title?.focus()
}

function back(): void {
  if (desk.page !== 'inbox') {
    const button = document.querySelector<HTMLElement>('.stage > .back')
    if (inSight(button)) button.click()
    else void focusPage(desk.page)
    return
  }
  if (current.control?.back() === true) return
  const list = document.getElementById('inbox-list')
  if (document.activeElement === list || list === null) desk.select(null)
  else if (list.offsetParent === null) { desk.select(null); void tick().then(() => document.getElementById('inbox-list')?.focus()) }
  else list.focus()
}

/** Does what the keys ask for. True: they were a command, and the page's own meaning of them is not wanted. */
export function keyDown(event: KeyboardEvent, acts: PageActs): boolean {
  const focus = focusOf(event.target)
  const control = desk.page === 'inbox' ? current.control : null
  // The second step stands where the note was, and confirms what it shows.
  const denying = control?.panel === 'note' && !control.guard.view.step
  const command = commandOf(event, { mac: isMac(), focus, letters: desk.preferences.letters, denying })
  if (command === null) return false
  const page = pages[command]
  if (page !== undefined) { desk.go(page); void focusPage(page); return true }
  switch (command) {
    // While the scope review is open its own button allows; the chord would be a guess at what was meant.
    case 'allow_once': if (control !== null && (control.panel !== 'scope' || control.guard.view.step)) control.acted('allow', control.guard.act('allow', event)); return true
    case 'deny': if (control !== null) control.acted('deny', control.guard.act('deny', event)); return true
    case 'send_note': if (control !== null) control.acted('deny', control.guard.act('deny', event)); return true
    case 'scope_review': if (control !== null && control.standing.length > 0) control.show('scope'); return true
    case 'deny_note': case 'comment': control?.show('note'); return control !== null
    case 'expand': if (control !== null) control.traceOpen = !control.traceOpen; return control !== null
    case 'diff': if (control !== null) control.diffOpen = !control.diffOpen; return control !== null
    case 'next': return move(1, focus)
    case 'previous': return move(-1, focus)
    case 'repeat_aloud': repeat(); return true
    case 'back': back(); return true
    case 'help': acts.help(); return true
  }
  return false
}
