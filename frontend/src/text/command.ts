// A command in stretches for the card: which part of it a stretch belongs to, whether it names a risk, and whether it
// stands for characters that cannot be shown. One flat list, so that no stretch can cover another.
import { pieces } from './escape'

/** Where a part stands in the command, in bytes of UTF-8, as the core counts. Both 0: it is no literal stretch of it. */
export interface PartRange {
  readonly start?: number
  readonly end?: number
}

export interface Span {
  readonly text: string
  readonly escaped: boolean
  /** Index of the part it belongs to. */
  readonly part: number | null
  readonly risk: boolean
}

export interface CommandText {
  readonly spans: readonly Span[]
  readonly escaped: boolean
  /** Indices of the parts that stand nowhere in the command as they are, and must be shown beside it. */
  readonly unplaced: readonly number[]
}

interface Range {
  readonly start: number
  readonly end: number
}

/** How many bytes of UTF-8 a code point takes. */
function bytesOf(point: number): number {
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
}

/** Turns byte offsets into UTF-16 indices. An offset inside of a character, or beyond the end, is left out. */
function indicesAt(text: string, offsets: ReadonlySet<number>): Map<number, number> {
  const found = new Map<number, number>()
  let bytes = 0
  let index = 0
  for (const character of text) {
    if (offsets.has(bytes)) found.set(bytes, index)
    bytes += bytesOf(character.codePointAt(0) ?? 0)
    index += character.length
  }
  if (offsets.has(bytes)) found.set(bytes, index)
  return found
}

function place(text: string, parts: readonly PartRange[]): (Range | null)[] {
  const offsets = new Set<number>()
  for (const part of parts) {
    offsets.add(part.start ?? 0)
    offsets.add(part.end ?? 0)
  }
  const at = indicesAt(text, offsets)
  return parts.map((part) => {
    const start = at.get(part.start ?? 0)
    const end = at.get(part.end ?? 0)
    return start === undefined || end === undefined || end <= start ? null : { start, end }
  })
}

const wordCharacter = /[\p{L}\p{N}_]/u

/** Finds the risk words as words: "rm" is not marked in "format". A word that begins or ends with a sign needs no edge. */
function riskRanges(text: string, words: readonly string[]): Range[] {
  const ranges: Range[] = []
  for (const word of words) {
    if (word === '') continue
    const first = wordCharacter.test(word.charAt(0))
    const last = wordCharacter.test(word.charAt(word.length - 1))
    for (let start = text.indexOf(word); start >= 0; start = text.indexOf(word, start + word.length)) {
      const end = start + word.length
      if (first && start > 0 && wordCharacter.test(text.charAt(start - 1))) continue
      if (last && end < text.length && wordCharacter.test(text.charAt(end))) continue
      ranges.push({ start, end })
    }
  }
  return ranges
}

/** For every index of the text what owns it; of nested parts the innermost, because its state is the more exact one. */
function owners(length: number, placed: readonly (Range | null)[]): Int32Array {
  const owner = new Int32Array(length).fill(-1)
  const order = placed.flatMap((range, part) => (range === null ? [] : [{ range, part }]))
  order.sort((a, b) => (b.range.end - b.range.start) - (a.range.end - a.range.start))
  for (const { range, part } of order) owner.fill(part, range.start, range.end)
  return owner
}

/** Splits a command into stretches. Newlines and tabs stay; the box that shows it keeps them. */
export function commandText(command: string, parts: readonly PartRange[], riskWords: readonly string[]): CommandText {
  const placed = place(command, parts)
  const owner = owners(command.length, placed)
  const risky = new Uint8Array(command.length)
  for (const range of riskRanges(command, riskWords)) risky.fill(1, range.start, range.end)

  const spans: Span[] = []
  let escaped = false
  for (const piece of pieces(command, { layout: true })) {
    const part = (index: number): number | null => ((owner[index] ?? -1) < 0 ? null : owner[index] ?? null)
    if (piece.escaped) {
      // An escape is one stretch even where a part ends inside of it: its text has other lengths than what it stands for.
      escaped = true
      spans.push({ text: piece.text, escaped: true, part: part(piece.start), risk: risky[piece.start] === 1 })
      continue
    }
    let from = piece.start
    for (let i = piece.start + 1; i <= piece.end; i++) {
      if (i < piece.end && owner[i] === owner[from] && risky[i] === risky[from]) continue
      spans.push({ text: command.slice(from, i), escaped: false, part: part(from), risk: risky[from] === 1 })
      from = i
    }
  }
  return { spans, escaped, unplaced: placed.flatMap((range, index) => (range === null ? [index] : [])) }
}

/** How many lines a text has. */
export function lineCount(text: string): number {
  let lines = 1
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) lines++
  return text.endsWith('\n') && lines > 1 ? lines - 1 : lines
}
