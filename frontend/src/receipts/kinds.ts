// What a record is called in a list.
import type { ShapeName } from '../look/Shape.svelte'
import type { Receipt } from '../wire/types.gen'

type Record = Receipt['record']
const kinds = new Set(['start', 'end', 'write', 'decision'])

export const kindKey = (record: Record): string => `record.${kinds.has(record.kind) ? record.kind : 'other'}`

/** An end that was not a good one is a cross: refused or failed, the details say which. */
export function kindShape(record: Record): ShapeName {
  switch (record.kind) {
    case 'start': return 'ring'
    case 'end': return record.exit_status === 0 ? 'check' : 'cross'
    case 'write': return 'diamond'
  }
  return 'dot'
}
