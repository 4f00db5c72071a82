import { describe, expect, it } from 'vitest'
import { commandText, lineCount } from './command'

const shown = (command: string, parts: { start?: number; end?: number }[], words: string[] = []): string[] =>
  commandText(command, parts, words).spans.map((s) => `${s.part ?? '-'}${s.risk ? '!' : ''}${s.escaped ? '\\' : ''}:${s.text}`)

describe('commandText', () => {
  it('marks parts and risks in one flat list', () => {
    expect(shown('ls && rm -rf x', [{ start: 0, end: 2 }, { start: 6, end: 14 }], ['rm', '-rf']))
      .toEqual(['0:ls', '-: && ', '1!:rm', '1: ', '1!:-rf', '1: x'])
  })
  it('counts in bytes', () => {
    expect(shown('echo 中🎉; rm', [{ start: 0, end: 12 }, { start: 14, end: 16 }])).toEqual(['0:echo 中🎉', '-:; ', '1:rm'])
  })
  it('gives a nested stretch to the inner part', () => {
    expect(shown('echo $(rm x)', [{ start: 0, end: 12 }, { start: 7, end: 11 }])).toEqual(['0:echo $(', '1:rm x', '0:)'])
  })
  it('marks words, not letters', () => {
    expect(shown('format rm farm', [], ['rm'])).toEqual(['-:format ', '-!:rm', '-: farm'])
  })
  it('shows escapes within parts and words', () => {
    expect(shown('r\u200Bm x', [{ start: 0, end: 7 }])).toEqual(['0:r', '0\\:\\u{200B}', '0:m x'])
    expect(commandText('r\u200Bm', [], []).escaped).toBe(true)
  })
  const wrong: [string, { start?: number; end?: number }][] = [
    ['no place', {}], ['both zero', { start: 0, end: 0 }], ['backwards', { start: 3, end: 1 }], ['beyond the end', { start: 0, end: 99 }],
    ['inside of a character', { start: 0, end: 1 }], ['negative', { start: -1, end: 3 }],
  ]
  it.each(wrong)('leaves a part with %s beside the command', (_name, part) => {
    const { spans, unplaced } = commandText('中x', [part], [''])
    expect(unplaced).toEqual([0])
    expect(spans).toEqual([{ text: '中x', escaped: false, part: null, risk: false }])
  })
  it('takes nothing away and adds nothing', () => {
    const command = 'a\n\tb "中" && c | d'
    expect(commandText(command, [{ start: 0, end: 5 }, { start: 4, end: 9 }], ['c', '|']).spans.map((s) => s.text).join('')).toBe(command)
  })
  it('takes an empty command', () => { expect(shown('', [])).toEqual([]) })
})

it.each([['', 1], ['a', 1], ['a\n', 1], ['a\nb', 2], ['a\n\n', 2], ['a\n'.repeat(13), 13]])('counts the lines of %j', (text, lines) => {
  expect(lineCount(text)).toBe(lines)
})
