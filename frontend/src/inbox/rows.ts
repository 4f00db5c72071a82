// What the rows of the inbox say, and in which order they stand.
import type { ShapeName } from '../look/Shape.svelte'
import { baseName } from '../card/model'
import type { Call, Card, Question } from '../wire/types.gen'

/** The longest a row's line is made; what is longer is cut in a list anyway. */
const longestLine = 400

/** A text of several lines as one, cut: the card shows the whole. */
const oneLine = (text: string): string => {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' ')
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line
}

/** The one line that tells calls apart: the command, or the first argument that names something. */
export function lineOf(tool: string, args: unknown, command?: string): string {
  if (command !== undefined && command !== '') return oneLine(command)
  if (typeof args !== 'object' || args === null) return tool
  const values = new Map(Object.entries(args))
  for (const name of ['command', 'file_path', 'notebook_path', 'path', 'url', 'query', 'pattern']) {
    const value = values.get(name)
    if (typeof value !== 'string' || value === '') continue
    if (name === 'command') return oneLine(value)
    return oneLine(`${tool} ${value}`)
  }
  return tool
}

export function questionLine(q: Question): string {
  const card: Card | undefined = q.detail
  return card === undefined ? q.prompt : lineOf(card.agent_tool || q.tool, card.args, card.command)
}

export const projectOf = (path: string | undefined): string => path ? baseName(path) : ''

export interface Ending { readonly shape: ShapeName; readonly key: string }

/** How a call that was asked about ended. */
export function callEnding(call: Call): Ending {
  switch (call.outcome) {
    case 'refused': return { shape: 'cross', key: call.comment ? 'row.denied_note' : 'row.denied' }
    case 'denied': return { shape: 'cross', key: 'row.denied_rule' }
    case 'expired': return { shape: 'dash', key: 'row.expired' }
    case 'cancelled': return { shape: 'dash', key: 'row.cancelled' }
    case 'origin_gone': return { shape: 'dash', key: 'row.origin_gone' }
    case 'answered_in_agent': return { shape: 'dash', key: 'row.in_agent' }
    case 'failed': return { shape: 'triangle', key: 'row.failed' }
    case 'unknown': return { shape: 'triangle', key: 'row.unknown' }
    case 'done': return { shape: 'check', key: call.exit === undefined || call.exit === 0 ? 'row.allowed_ran' : 'row.allowed_exit' }
    case 'reported': case 'unreported': return { shape: 'check', key: 'row.allowed' }
  }
  if (call.state === 'waiting' || call.state === 'proposed') return { shape: 'dot', key: 'row.waiting' }
  return { shape: 'check', key: call.state === 'running' ? 'row.running' : 'row.allowed' }
}

/** Whether a call ended without anybody's answer; such rows stand under a heading of their own. */
const unanswered = new Set(['expired', 'cancelled', 'origin_gone'])
export const isUnanswered = (call: Call): boolean => unanswered.has(call.outcome ?? '')

/**
 * Keeps rows where they stand: what is open stays in its order, what is new is appended, and a request that was closed
 * while its card is open keeps its row until another is selected.
 */
export function keepOrder(shown: readonly Question[], open: readonly Question[], closed: ReadonlyMap<string, Question>, selected: string | null): Question[] {
  const now = new Map(open.map((q) => [q.id, q]))
  const kept: Question[] = []
  for (const { id } of shown) {
    const q = now.get(id) ?? (id === selected ? closed.get(id) : undefined)
    if (q !== undefined) kept.push(q)
    now.delete(id)
  }
  return [...kept, ...now.values()]
}
