// What can be enforced on this machine, as a word with a shape.
import type { ShapeName } from '../look/Shape.svelte'
import type { Status } from '../wire/types.gen'

export interface Standing { readonly key: string; readonly shape: ShapeName; readonly tone: '' | 'warn' | 'bad' }

/** Unknown is never told as enforced. */
export function boundaryState(status: Status | null): Standing {
  switch (status?.boundary.enforcement) {
    case undefined: return { key: 'enforcement.asking', shape: 'ring', tone: '' }
    case 'Enforced': return { key: 'enforcement.enforced', shape: 'diamond', tone: '' }
    case 'Advisory': return { key: 'enforcement.advisory', shape: 'triangle', tone: 'warn' }
  }
  return { key: 'enforcement.unavailable', shape: 'triangle', tone: 'bad' }
}
