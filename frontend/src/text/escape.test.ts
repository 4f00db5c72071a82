import { describe, expect, it } from 'vitest'
import { escape, escapeText, maxCombining, pieces } from './escape'

describe('what is spelled out', () => {
  const cases: [string, string, string][] = [
    ['plain text', 'rm -rf build', 'rm -rf build'],
    ['Chinese', '运行命令', '运行命令'],
    ['an emoji', 'done 🎉', 'done 🎉'],
    ['one accent', 'e\u0301', 'e\u0301'],
    ['escape character', '\x1b', '\\e'],
    ['colour sequence', 'a\x1b[31mred\x1b[0m', 'a\\e[31mred\\e[0m'],
    ['title sequence', '\x1b]0;title\x07x', '\\e]0;title\\u{7}x'],
    ['bell', '\x07', '\\u{7}'],
    ['C1 control', '\x9b31m', '\\u{9B}31m'],
    ['delete', '\x7f', '\\u{7F}'],
    ['carriage return', 'safe\rrm', 'safe\\rrm'],
    ['right-to-left override', 'a\u202Eb', 'a\\u{202E}b'],
    ['isolate', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['zero-width space', 'r\u200Bm', 'r\\u{200B}m'],
    ['zero-width joiner', 'r\u200Dm', 'r\\u{200D}m'],
    ['word joiner', 'r\u2060m', 'r\\u{2060}m'],
    ['byte order mark', '\uFEFFls', '\\u{FEFF}ls'],
    ['soft hyphen', 'r\u00ADm', 'r\\u{AD}m'],
    ['tag', 'a\u{E0041}', 'a\\u{E0041}'],
    ['variation selector', 'a\uFE0F', 'a\\u{FE0F}'],
    ['late variation selector', 'a\u{E0100}', 'a\\u{E0100}'],
    ['Hangul filler', 'a\u3164b', 'a\\u{3164}b'],
    ['blank Braille', 'a\u2800b', 'a\\u{2800}b'],
    ['no-break space', 'rm\u00A0x', 'rm\\u{A0}x'],
    ['ideographic space', 'rm\u3000x', 'rm\\u{3000}x'],
    ['line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['private use', 'a\uE000', 'a\\u{E000}'],
    ['unassigned', 'a\u{E0FFF}', 'a\\u{E0FFF}'],
    ['lone surrogate', 'a\uD800b', 'a\\u{D800}b'],
    ['replacement character', 'a\uFFFDb', 'a\\u{FFFD}b'],
    ['mark without a letter', '\u0301a', '\\u{301}a'],
    ['mark after a space', ' \u0301', ' \\u{301}'],
    ['newline', 'a\nb\tc', 'a\\nb\\tc'],
  ]
  it.each(cases)('%s', (_name, text, want) => {
    expect(escapeText(text)).toBe(want)
    expect(escape(text).escaped).toBe(want !== text)
  })
})

it('keeps newlines and tabs where there is a layout, but no carriage return', () => {
  expect(escapeText('a\n\tb\r\n', { layout: true })).toBe('a\n\tb\\r\n')
})

it('shows a flood of combining marks only so far', () => {
  const flood = escape('e' + '\u0301'.repeat(100))
  expect(flood.escaped).toBe(true)
  expect(flood.segments[0]).toEqual({ text: 'e' + '\u0301'.repeat(maxCombining), escaped: false })
})

it('tells an escape from text that looks like one', () => {
  expect(escape('\\u{202E}\u202E').segments).toEqual([{ text: '\\u{202E}', escaped: false }, { text: '\\u{202E}', escaped: true }])
})

it('covers every index of any text once, and shows nothing hidden', () => {
  const alphabet = ['a', ' ', '\n', '\t', '\x1b', '[', 'm', '\u0301', '\u202E', '\uD800', '\uDC00', '🎉', '\uFE0F', '中', '\u00A0']
  let seed = 7
  const next = (n: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
  for (let round = 0; round < 500; round++) {
    const text = Array.from({ length: next(20) }, () => alphabet[next(alphabet.length)]).join('')
    let at = 0
    for (const piece of pieces(text, { layout: true })) {
      expect(piece.start).toBe(at)
      expect(piece.end).toBeGreaterThan(at)
      if (!piece.escaped) expect(text.slice(piece.start, piece.end)).toBe(piece.text)
      expect(piece.text).not.toMatch(/[\x00-\x08\x0b-\x1f\u200b-\u200f\u202a-\u202e\ufe0f\u00a0]/)
      at = piece.end
    }
    expect(at).toBe(text.length)
  }
})
