// Sentences from a catalogue: flat keys, texts with {names}. No plurals: texts are worded so that they need none.
import { escapeText } from './escape'

export type Catalogue = Readonly<Record<string, string>>
export type Args = Readonly<Record<string, string | number>>
export type Language = 'en' | 'zh-CN'

const placeholder = /\{([a-z_][a-z0-9_]*)\}/gi

/** Fills the names of a text. What is put in may come from an agent: it is escaped, and never read as a text again. */
export function fill(text: string, args: Args): string {
  return text.replace(placeholder, (whole: string, name: string) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    return value === undefined ? whole : escapeText(String(value))
  })
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
