// Lines of a hunk as they are shown, each with its number and sign.
import type { DiffHunk } from '../wire/types.gen'

export interface ShownLine {
  readonly number: number
  readonly sign: string
  readonly tone: 'add' | 'del' | ''
  readonly text: string
  /** Spaces at the end of a changed line: they are part of the change, and would not show. */
  readonly spaces: number
  /** It is the last line of its text, and no line end follows. */
  readonly noEnd: boolean
}

/** Removed lines carry the number of the old file, all others that of the new one. */
export function numbered(hunk: DiffHunk): ShownLine[] {
  let before = hunk.old_start, after = hunk.new_start
  return (hunk.lines ?? []).map((line) => {
    const noEnd = line.no_newline === true
    if (line.op === '-') return { number: before++, sign: '−', tone: 'del', ...withoutSpaces(line.text), noEnd }
    if (line.op === '+') return { number: after++, sign: '+', tone: 'add', ...withoutSpaces(line.text), noEnd }
    before++
    return { number: after++, sign: ' ', tone: '', text: line.text, spaces: 0, noEnd }
  })
}

function withoutSpaces(line: string): { text: string; spaces: number } {
  let end = line.length
  while (end > 0 && line[end - 1] === ' ') end--
  return { text: line.slice(0, end), spaces: line.length - end }
}

/** A size for a person. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  const units = ['KiB', 'MiB', 'GiB']
  let value = count / 1024, unit = 0
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit++ }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit] ?? ''}`
}
