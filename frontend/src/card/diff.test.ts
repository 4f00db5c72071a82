import { describe, expect, it } from 'vitest'
import { bytes, numbered } from './diff'

describe('numbered', () => {
  it('counts removed lines in the old file and the others in the new one', () => {
    const lines = [{ op: ' ', text: 'a' }, { op: '-', text: 'b' }, { op: '+', text: 'c' }, { op: '+', text: 'd' }, { op: ' ', text: 'e' }]
    expect(numbered({ old_start: 10, new_start: 20, lines }).map((l) => `${l.number}${l.sign}${l.text}`)).toEqual(['20 a', '11−b', '21+c', '22+d', '23 e'])
  })
  // A change of nothing but spaces at the end of a line, or of the last line end, looked like no change.
  it('tells of spaces at the end of changed lines, and of a missing line end', () => {
    const lines = [{ op: ' ', text: 'a ' }, { op: '-', text: 'b' }, { op: '+', text: 'b  ' }, { op: '+', text: '   ' }, { op: '+', text: ' c', no_newline: true }]
    expect(numbered({ old_start: 1, new_start: 1, lines }).map(({ text, spaces, noEnd }) => [text, spaces, noEnd]))
      .toEqual([['a ', 0, false], ['b', 0, false], ['b', 2, false], ['', 3, false], [' c', 0, true]])
  })
  it('takes a hunk without lines', () => expect(numbered({ old_start: 1, new_start: 1, lines: null })).toEqual([]))
})

describe('bytes', () => {
  it.each([[0, '0 B'], [1023, '1023 B'], [1536, '1.5 KiB'], [20480, '20 KiB'], [5 * 1024 * 1024, '5.0 MiB']])('%i', (n, text) => {
    expect(bytes(n)).toBe(text)
  })
})
