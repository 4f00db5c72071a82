import { expect, it } from 'vitest'
import { chordText } from './chords'

it.each([[true, '⌘⇧↵'], [false, 'Ctrl ⇧↵']])('writes a chord (mac: %s)', (mac, text) => {
  expect(chordText(['Mod', 'Shift', 'Enter'], mac)).toBe(text)
})
