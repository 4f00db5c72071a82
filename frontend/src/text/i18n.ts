// The language of the pages. t reads a reactive value, so that whatever shows a sentence follows a change of language.
import { SvelteMap } from 'svelte/reactivity'
import en from '../../../app/i18n/en.json'
import zhCN from '../../../app/i18n/zh-CN.json'
import { chooseLanguage, fill, lookUp, stretches, type Args, type Catalogue, type Language, type Stretch } from './translate'

const catalogues: Readonly<Record<Language, Catalogue>> = { en, 'zh-CN': zhCN }
const chosen = new SvelteMap<'set', string>()
const missing = new Map<string, number>()

const spoken = new SvelteMap<'desktop', string>()

/** What the system speaks: in the window as the app says, so that tray, notifications and pages agree; else as the browser says. */
const systemLanguages = (): readonly string[] => {
  const desktop = spoken.get('desktop')
  if (desktop !== undefined && desktop !== '') return [desktop]
  return typeof navigator === 'undefined' ? [] : navigator.languages ?? []
}

/** The language in use; also what belongs into the html element's lang. */
export function language(): Language {
  return chooseLanguage(chosen.get('set') ?? 'system', systemLanguages())
}

/** Sets the language: "system", "en" or "zh-CN". */
export function setLanguage(set: string): void {
  chosen.set('set', set)
}

/** Tells what language the desktop speaks. */
export function setDesktopLanguage(language: string): void {
  spoken.set('desktop', language)
}

/** Whether there is a sentence of this key in the language in use, or in English. */
export function has(key: string): boolean {
  return lookUp(catalogues[language()], key) !== null || lookUp(en, key) !== null
}

/** The sentence of a key. Without one the key itself is shown and, while developing, counted. */
export function t(key: string, args: Args = {}): string {
  const text = lookUp(catalogues[language()], key) ?? lookUp(en, key)
  if (text === null) {
    if (import.meta.env.DEV) missing.set(key, (missing.get(key) ?? 0) + 1)
    return key
  }
  return fill(text, args)
}

/** The sentence of a key in stretches, so that its names can be set apart. */
export function sentence(key: string, args: Args = {}): readonly Stretch[] {
  return stretches(lookUp(catalogues[language()], key) ?? lookUp(en, key) ?? key, args)
}

/** The sentence of an error of the core or of the app; a code without one of its own is named. */
export function errorText(code: string, args: Args = {}): string {
  const key = `error.${code}`
  return has(key) ? t(key, args) : t('error.unknown', { ...args, code })
}

/** The keys that were asked for and are in no catalogue, with how often. Counted only while developing. */
export function missingKeys(): ReadonlyMap<string, number> {
  return missing
}
