import { describe, expect, it } from 'vitest'
import { bytes, numbered } from './diff'

describe('numbered', () => {
  it('counts removed lines in the old file and the others in the new one', () => {
    const lines = [{ op: ' ', text: 'a' }, { op: '-', text: 'b' }, { op: '+', text: 'c' }, { op: '+', text: 'd' }, { op: ' ', text: 'e' }]
    expect(numbered({ old_start: 10, new_start: 20, lines }).map((l) => `${l.number}${l.sign}${l.text}`)).toEqual(['20 a', '11−b', '21+c', '22+d', '23 e'])
  })
  it('takes a hunk without lines', () => expect(numbered({ old_start: 1, new_start: 1, lines: null })).toEqual([]))
})

describe('bytes', () => {
  it.each([[0, '0 B'], [1023, '1023 B'], [1536, '1.5 KiB'], [20480, '20 KiB'], [5 * 1024 * 1024, '5.0 MiB']])('%i', (n, text) => {
    expect(bytes(n)).toBe(text)
  })
})
