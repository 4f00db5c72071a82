// Sentences from a catalogue: flat keys, texts with {names}. No plurals: texts are worded so that they need none.
import { escapeText } from './escape'

export type Catalogue = Readonly<Record<string, string>>
export type Args = Readonly<Record<string, string | number>>
export type Language = 'en' | 'zh-CN'

const placeholder = /\{([a-z_][a-z0-9_]*)\}/gi

/** A stretch of a sentence: our words, with name null, or what stands for one of its names. */
export interface Stretch {
  readonly text: string
  readonly name: string | null
}

/** Splits a text at its names, in order. What stands for a name may come from an agent: it is not escaped yet. */
export function stretches(text: string, args: Args): Stretch[] {
  const list: Stretch[] = []
  let from = 0
  for (const { 0: whole, 1: name = '', index } of text.matchAll(placeholder)) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    if (value === undefined) continue
    list.push({ text: text.slice(from, index), name: null }, { text: String(value), name })
    from = index + whole.length
  }
  return [...list, { text: text.slice(from), name: null }].filter((part) => part.name !== null || part.text !== '')
}

/** Letters that are written from right to left: Hebrew, Arabic and the scripts around them, and their presentation forms. */
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u
const isolate = '\u2068', endIsolate = '\u2069'

/** Fills the names of a text. What is put in may come from an agent: it is escaped, never read as a text again, and cannot
 * change the order of the words around it. */
export function fill(text: string, args: Args): string {
  return stretches(text, args).map((part) => {
    if (part.name === null) return part.text
    const shown = escapeText(part.text)
    return rightToLeft.test(shown) ? isolate + shown + endIsolate : shown
  }).join('')
}

/** Looks a key up; null when the catalogue does not have it. */
export function lookUp(catalogue: Catalogue, key: string): string | null {
  return Object.hasOwn(catalogue, key) ? catalogue[key] ?? null : null
}

/** Chooses the language: the one that was set, or the first of the system's that there is a catalogue for. */
export function chooseLanguage(set: string, system: readonly string[]): Language {
  if (set === 'en' || set === 'zh-CN') return set
  for (const tag of system) {
    const language = tag.toLowerCase().split(/[-_]/)[0]
    if (language === 'zh') return 'zh-CN'
    if (language === 'en') return 'en'
  }
  return 'en'
}
