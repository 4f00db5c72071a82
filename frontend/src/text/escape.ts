// Untrusted text as a person may safely read it. Everything that is invisible, moves the text around it, or pretends to be
// something else is spelled out, and is told apart from text that merely looks like an escape, because it is marked.

/** A stretch of text. An escaped one stands for characters that cannot be shown as they are. */
export interface Segment {
  readonly text: string
  readonly escaped: boolean
}

/** A stretch together with where it stood: UTF-16 indices into the original. */
export interface Piece extends Segment {
  readonly start: number
  readonly end: number
}

export interface Escaped {
  readonly segments: readonly Segment[]
  /** Whether anything was escaped: the card then warns. */
  readonly escaped: boolean
}

export interface EscapeOptions {
  /** Newlines and tabs stay what they are. A carriage return never does: it hides what stands before it. */
  readonly layout?: boolean
}

/** How many combining marks one character may carry. Real languages need up to four; floods have hundreds. */
export const maxCombining = 4

// What is never shown as it is: controls, format characters (bidirectional ones among them), lone surrogates, private and
// unassigned code points, line and paragraph separators, everything that Unicode lets a font ignore (zero-width
// characters, variation selectors, tags, fillers, the soft hyphen), the blank Braille pattern, and the replacement
// character, which stands where bytes were no text.
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\uFFFD]/u
const oddSpace = /\p{Zs}/u
const combining = /\p{M}/u
// A terminal's control sequence: shown as one stretch, so that its letters are not taken for words of a command.
const terminalSequence = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])/y
const plain = /[!-~ ]+/y

const names = new Map([['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t'], ['\x1b', '\\e']])

function spellOut(character: string): string {
  return names.get(character) ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`
}

function mustEscape(character: string, layout: boolean): boolean {
  if (layout && (character === '\n' || character === '\t')) return false
  return hidden.test(character) || (character !== ' ' && oddSpace.test(character))
}

/** Splits a text into pieces in order. Neighbouring pieces of one kind are one piece. */
export function pieces(text: string, options: EscapeOptions = {}): Piece[] {
  const layout = options.layout === true
  const list: Piece[] = []
  let kind: boolean | null = null
  let start = 0
  let shown = ''
  const add = (from: number, out: string, escaped: boolean): void => {
    if (kind !== escaped) {
      if (kind !== null) list.push({ start, end: from, text: shown, escaped: kind })
      kind = escaped
      start = from
      shown = ''
    }
    shown += out
  }
  // Marks that follow the present character, or all there may be when there is none that could carry them.
  let marks = maxCombining
  let i = 0
  while (i < text.length) {
    plain.lastIndex = i
    const run = plain.exec(text)?.[0]
    if (run !== undefined) {
      add(i, run, false)
      marks = run.endsWith(' ') ? maxCombining : 0
      i += run.length
      continue
    }
    terminalSequence.lastIndex = i
    const sequence = terminalSequence.exec(text)?.[0]
    if (sequence !== undefined) {
      let out = ''
      for (const character of sequence) out += mustEscape(character, false) ? spellOut(character) : character
      add(i, out, true)
      marks = maxCombining
      i += sequence.length
      continue
    }
    const character = String.fromCodePoint(text.codePointAt(i) ?? 0)
    const isMark = combining.test(character)
    if (mustEscape(character, layout) || (isMark && marks >= maxCombining)) {
      add(i, spellOut(character), true)
      marks = maxCombining
    } else {
      add(i, character, false)
      marks = isMark ? marks + 1 : character === '\n' || character === '\t' ? maxCombining : 0
    }
    i += character.length
  }
  if (kind !== null) list.push({ start, end: text.length, text: shown, escaped: kind })
  return list
}

/** The text in stretches for the screen. */
export function escape(text: string, options: EscapeOptions = {}): Escaped {
  const list = pieces(text, options)
  return {
    segments: list.map(({ text: shown, escaped }) => ({ text: shown, escaped })),
    escaped: list.some((piece) => piece.escaped),
  }
}

/** Only the stretches; layout keeps newlines and tabs. */
export function segments(text: string, layout = false): readonly Segment[] {
  return escape(text, { layout }).segments
}

/** The text as one string, where marks cannot be shown: a title, a sentence's argument. */
export function escapeText(text: string, options: EscapeOptions = {}): string {
  return pieces(text, options).map((piece) => piece.text).join('')
}
