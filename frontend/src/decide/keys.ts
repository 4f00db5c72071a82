// The keys. A table from what was pressed, and where the focus is, to a command. No bare Enter, Space or digit decides, and
// no key is known outside of the window.
import { ignoredKey, type KeyLike } from './input'

export type Command =
  | 'allow_once' | 'scope_review' | 'deny' | 'deny_note' | 'send_note'
  | 'next' | 'previous' | 'expand' | 'diff' | 'comment' | 'repeat_aloud'
  | 'page_inbox' | 'page_sessions' | 'page_projects' | 'page_receipts' | 'page_settings'
  | 'mode_1' | 'mode_2' | 'mode_3' | 'mode_4' | 'mode_5'
  | 'filter' | 'back' | 'help'

/** Where the focus is. comment: the card's comment to an allow; note: the note of a denial, with everything beside it; text:
 * any other text field; choice: radio buttons, which have arrows of their own; refuses: a button that refuses or goes back,
 * or an open menu of those; other: anything else, also nothing. */
export type Focus = 'list' | 'card' | 'mode_menu' | 'comment' | 'note' | 'text' | 'choice' | 'refuses' | 'other'

export interface KeyContext {
  readonly mac: boolean
  readonly focus: Focus
  /** The owner's preference: single letters act. */
  readonly letters: boolean
  /** The note of a denial is open on the card, wherever the focus is. */
  readonly denying: boolean
}

/** One row of the help: the keys as they are printed on a keyboard, and the sentence's key. */
export interface KeyHelp {
  readonly keys: readonly string[]
  readonly command: Command
  readonly letter: boolean
}

const pages: readonly Command[] = ['page_inbox', 'page_sessions', 'page_projects', 'page_receipts', 'page_settings']
const modes: readonly Command[] = ['mode_1', 'mode_2', 'mode_3', 'mode_4', 'mode_5']
const letters: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['j', 'next'], ['k', 'previous'], ['e', 'expand'], ['d', 'diff'], ['c', 'comment'], ['r', 'repeat_aloud'], ['?', 'help'],
])
/** Letters that act outside of the list and the card too: they go through the list, and tell of the keys. */
const anywhere: ReadonlySet<Command> = new Set<Command>(['next', 'previous', 'help'])
const textFocus: ReadonlySet<Focus> = new Set<Focus>(['comment', 'note', 'text'])

/** The table as help shows it. Mod is Cmd on a Mac and Ctrl elsewhere. */
export const keyHelp: readonly KeyHelp[] = [
  { keys: ['Mod', 'Enter'], command: 'allow_once', letter: false },
  { keys: ['Mod', 'Shift', 'Enter'], command: 'scope_review', letter: false },
  { keys: ['Mod', 'Backspace'], command: 'deny', letter: false },
  { keys: ['Mod', 'Shift', 'Backspace'], command: 'deny_note', letter: false },
  { keys: ['↓', 'J'], command: 'next', letter: true },
  { keys: ['↑', 'K'], command: 'previous', letter: true },
  { keys: ['E'], command: 'expand', letter: true },
  { keys: ['D'], command: 'diff', letter: true },
  { keys: ['C'], command: 'comment', letter: true },
  { keys: ['R'], command: 'repeat_aloud', letter: true },
  { keys: ['Mod', '1'], command: 'page_inbox', letter: false },
  { keys: ['Mod', '2'], command: 'page_sessions', letter: false },
  { keys: ['Mod', '3'], command: 'page_projects', letter: false },
  { keys: ['Mod', '4'], command: 'page_receipts', letter: false },
  { keys: ['Mod', '5'], command: 'page_settings', letter: false },
  { keys: ['Mod', 'F'], command: 'filter', letter: false },
  { keys: ['Esc'], command: 'back', letter: false },
  { keys: ['?'], command: 'help', letter: true },
]

/** The digit 1-5 of a key, 0 without one. By its place too: some layouts have other signs on that row. */
function digit(event: KeyLike): number {
  const found = /^[1-5]$/.exec(event.key)?.[0] ?? /^(?:Digit|Numpad)([1-5])$/.exec(event.code)?.[1]
  return found === undefined ? 0 : Number(found)
}

/** With Mod held. */
function chord(event: KeyLike, { focus, denying }: KeyContext): Command | null {
  const writing = textFocus.has(focus)
  if (event.key === 'Enter') {
    // In the note of a denial, and in a filter, somebody means something else than to allow.
    if (focus === 'note') return event.shiftKey ? null : 'send_note'
    if (focus === 'text' || focus === 'refuses' || denying) return null
    return event.shiftKey ? 'scope_review' : 'allow_once'
  }
  if (event.key === 'Backspace') return writing ? null : event.shiftKey ? 'deny_note' : 'deny'
  if (event.shiftKey) return null
  if (event.key === 'f' || event.key === 'F') return 'filter'
  return pages[digit(event) - 1] ?? null
}

/** What a pressed key asks for; null: nothing. */
export function commandOf(event: KeyLike, context: KeyContext): Command | null {
  if (ignoredKey(event)) return null
  const mod = context.mac ? event.metaKey : event.ctrlKey
  const foreign = event.altKey || (context.mac ? event.ctrlKey : event.metaKey)
  if (foreign) return null
  if (mod) return chord(event, context)
  if (event.key === 'Escape') return event.shiftKey ? null : 'back'
  if (textFocus.has(context.focus)) return null
  if (context.focus === 'mode_menu') return event.shiftKey ? null : modes[digit(event) - 1] ?? null
  const inPlace = context.focus === 'list' || context.focus === 'card'
  // In the card the arrows scroll what is read; J and K go to another one from there.
  if (context.focus !== 'card' && context.focus !== 'choice' && !event.shiftKey) {
    if (event.key === 'ArrowDown') return 'next'
    if (event.key === 'ArrowUp') return 'previous'
  }
  if (!context.letters || (event.shiftKey && event.key !== '?')) return null
  const command = letters.get(event.key.toLowerCase()) ?? null
  return command === null || inPlace || anywhere.has(command) ? command : null
}
