// What a record is called in a list.
import type { ShapeName } from '../look/Shape.svelte'
import type { Receipt } from '../wire/types.gen'

type Record = Receipt['record']
const kinds = new Set(['start', 'end', 'write', 'decision'])

const stops = new Set(['denied', 'refused', 'expired'])

/** How a call was stopped before anything ran, by a decision: "denied" by a rule, "refused" by the owner, "expired"; '' for one that was not. */
export function stoppedBy(record: Record): string {
  const outcome = record.extra?.['outcome'] ?? ''
  return record.kind === 'decision' && stops.has(outcome) ? outcome : ''
}

/** Whether an allowed call was left to the agent: who executed it is said by the record, and by nothing else. */
export function released(record: Record): boolean {
  const by = record.extra?.['executed_by'] ?? ''
  return record.kind === 'decision' && record.extra?.['outcome'] === 'allow' && by !== '' && by !== 'countersign'
}

export function kindKey(record: Record): string {
  const stopped = stoppedBy(record)
  if (stopped !== '') return `record.${stopped}`
  if (released(record)) return 'record.released'
  return `record.${kinds.has(record.kind) ? record.kind : 'other'}`
}

/** An end that was not a good one is a cross: refused or failed, the details say which. */
export function kindShape(record: Record): ShapeName {
  const stopped = stoppedBy(record)
  if (stopped !== '') return stopped === 'expired' ? 'dash' : 'cross'
  switch (record.kind) {
    case 'start': return 'ring'
    case 'end': return record.exit_status === 0 ? 'check' : 'cross'
    case 'write': return 'diamond'
  }
  return 'dot'
}
