// Where the keyboard stands: in which part of the page it is, and where it goes when its place was taken away.
import { tick } from 'svelte'
import type { Focus } from '../decide/keys'
import type { Page } from '../state/types'

/** The list of each page, and the title of what is open beside it or instead of it. */
const places: Readonly<Record<Page, { readonly list: string; readonly title: string }>> = {
  inbox: { list: 'inbox-list', title: 'card-title' }, sessions: { list: 'session-list', title: 'session-title' },
  projects: { list: '', title: 'projects-title' }, receipts: { list: 'receipt-list', title: 'receipt-title' }, settings: { list: '', title: 'settings-title' },
}

/** Where the focus is: the nearest element that says so; a text field is one wherever it stands, and all of a note is the note:
 * its box and its buttons belong to the denial. */
export function focusOf(target: EventTarget | null): Focus {
  if (!(target instanceof Element)) return 'other'
  const named = target.closest<HTMLElement>('[data-focus]')?.dataset['focus']
  if (target.closest('[data-focus="note"]') !== null) return 'note'
  if (target.matches('textarea, select, input:not([type="checkbox"]):not([type="radio"])')) return 'text'
  if (named === 'refuses' || target.closest('details.menu[open]') !== null) return 'refuses'
  if (target.matches('input[type="radio"]')) return 'choice'
  return named === 'list' || named === 'card' ? named : 'other'
}

/** Whether the focus is nowhere: what had it was taken away, or a press went beside everything that takes it. */
export function isLost(): boolean {
  const at = document.activeElement
  return at === null || at === document.body || at.id === 'main'
}

export const inSight = (one: HTMLElement | null | undefined): one is HTMLElement => one !== null && one !== undefined && one.offsetParent !== null

function rowsOf(page: Page): HTMLElement[] {
  const { list } = places[page]
  return list === '' ? [] : [...document.querySelectorAll<HTMLElement>(`#${list} button.row`)]
}

const isOpen = (row: HTMLElement): boolean => row.getAttribute('aria-pressed') === 'true'

/** Brings the focus to the list of a page, onto the row that is open; without a list in sight to the title, or the page. */
export async function focusPage(page: Page): Promise<void> {
  await tick()
  const { list, title } = places[page]
  const rows = rowsOf(page)
  const whole = document.getElementById(list)
  const row = rows.find(isOpen) ?? rows[0]
  const found = [row, whole !== null && whole.childElementCount > 0 ? whole : null, document.getElementById(title), document.getElementById('main')].find(inSight)
  found?.focus()
}

/** Goes one row on in the list of a page whose rows are buttons. From what is open beside the list the next one is opened;
 * otherwise only the focus goes. False: there is no such list. */
export function stepRows(page: Page, step: 1 | -1, focus: Focus): boolean {
  const rows = rowsOf(page)
  const from = rows.findIndex((row) => row === document.activeElement)
  const at = from >= 0 ? from : rows.findIndex(isOpen)
  const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))]
  if (next === undefined) return false
  if (focus === 'card' || !inSight(next)) next.click()
  else next.focus()
  return true
}

/** After the open card was closed. An answer of this page leads to the list, where the next one is a key away and no button
 * decides; otherwise the focus is only brought back when it was lost with the buttons. */
export function afterEnd(answeredHere: boolean): void {
  if (answeredHere) void focusPage('inbox')
  else if (isLost()) document.getElementById('card-title')?.focus()
}
