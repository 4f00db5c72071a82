// Which arguments of a call the card shows in another form, and what of the call it cannot show. The core leaves long
// arguments out and names them beside the others; the page must not take anything in the arguments for its word.
import type { Card, Changes, FileChange } from '../wire/types.gen'
import { isCommand, isWrite } from './tools'

/** What the card cannot show. */
export interface Unseen {
  /** An argument was left out for its length, and nothing else on the card shows it. */
  readonly argument: boolean
  /** What would be written to a file is not shown in full, or not known yet. */
  readonly change: boolean
}

type Args = Readonly<Record<string, unknown>>

/** The arguments as an object; without entries where they are anything else. */
export function argsOf(card: Card): Args {
  const { args } = card
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? args as Args : {}
}

/** Whether every line of a file's change is known: shown, or there is none. */
function isWhole(file: FileChange): boolean {
  if (file.kind !== 'create' && file.kind !== 'edit') return false
  return (file.hunks ?? []).length > 0 || (file.added === 0 && file.removed === 0)
}

const hasLines = (file: FileChange): boolean => isWhole(file) && (file.hunks ?? []).length > 0

/** Whether a list holds nothing but edits of the plain form: a text and what takes its place. */
function plainEdits(edits: unknown): boolean {
  return Array.isArray(edits) && edits.every((one: unknown) => typeof one === 'object' && one !== null
    && Object.entries(one).every(([name, value]) => (name === 'old_string' || name === 'new_string') && typeof value === 'string'))
}

/** The names of the arguments that the card shows in another form: those that its command, its lines of change or the
 * agent's words were made of, and no other. */
export function shownElsewhere(card: Card, changes: Changes | null): ReadonlySet<string> {
  const shown = new Set<string>()
  const args = argsOf(card)
  if (isCommand(card.tool)) {
    if ((card.command ?? '') !== '' && (args['command'] === card.command || isLeftOut(card, 'command'))) shown.add('command')
    if (typeof args['description'] === 'string' && args['description'] === card.says) shown.add('description')
  }
  const files = changes?.files ?? []
  if (!isWrite(card.tool) || files.length === 0 || !files.every(hasLines)) return shown
  const take = (name: string): void => { if (typeof args[name] === 'string' || isLeftOut(card, name)) shown.add(name) }
  // The path is shown with the lines, resolved.
  if (card.tool === 'write' || card.tool === 'edit') ['path', 'file_path'].forEach(take)
  if (card.tool === 'write') take('content')
  if (card.tool === 'edit') {
    if (!Object.hasOwn(args, 'edits') && !isLeftOut(card, 'edits')) ['old_string', 'new_string'].forEach(take)
    else if (plainEdits(args['edits'])) shown.add('edits')
  }
  return shown
}

/** Whether the core left an argument out for its length. */
function isLeftOut(card: Card, name: string): boolean {
  return Object.hasOwn(card.omitted ?? {}, name)
}

/** What of a call a person cannot see on its card. */
export function unseen(card: Card, changes: Changes | null): Unseen {
  const shown = shownElsewhere(card, changes)
  const files = changes?.files ?? []
  return {
    argument: Object.keys(card.omitted ?? {}).some((name) => !shown.has(name)),
    change: isWrite(card.tool) && (files.length === 0 || !files.every(isWhole)),
  }
}
