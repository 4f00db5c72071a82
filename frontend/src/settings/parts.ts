// What the settings say about a part of the desktop.
import type { ShapeName } from '../look/Shape.svelte'
import type { BridgePart } from '../wire/types.gen'

export type PartId = 'tray' | 'notifications'
/** why: the key of what is missing and what helps, '' where the part is there; otherwise: the key where that one has no sentence. */
export interface PartWords { readonly shape: ShapeName; readonly tone: 'ok' | 'soft' | 'warn'; readonly why: string; readonly otherwise: string }

export function partWords(id: PartId, part: BridgePart, demo: boolean): PartWords {
  const otherwise = `settings.${id}.missing`
  if (part.available) return { shape: 'check', tone: 'ok', why: '', otherwise }
  // A demo has no tray on purpose: nothing is to be mended.
  if (demo && id === 'tray') return { shape: 'dash', tone: 'soft', why: 'part.demo', otherwise }
  return { shape: 'triangle', tone: 'warn', why: `part.${part.code ?? ''}`, otherwise }
}
