// How a chord is written on this system: signs on a Mac, words elsewhere.
const signs: Readonly<Record<string, string>> = { Mod: '⌘', Shift: '⇧', Enter: '↵', Backspace: '⌫', Esc: '⎋' }
const words: Readonly<Record<string, string>> = { Mod: 'Ctrl', Enter: '↵', Backspace: '⌫', Shift: '⇧' }

export const isMac = (): boolean => typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

/** Keys that are pressed together. */
export function chordText(keys: readonly string[], mac: boolean = isMac()): string {
  if (mac) return keys.map((k) => signs[k] ?? k).join('')
  const list = keys.map((k) => words[k] ?? k)
  return list[0] === 'Ctrl' ? `Ctrl ${list.slice(1).join('')}` : list.join(' ')
}
