import { describe, expect, it } from 'vitest'
import { countsDown, instant, left, relative, untilChange } from './time'

const now = Date.parse('2026-03-01T12:00:00Z')
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString()

it.each([
  ['a moment ago', -3, 'time.now', undefined], ['by a clock ahead of ours', 5, 'time.now', undefined],
  ['12 minutes', -12 * 60 - 40, 'time.minutes', '12'], ['hours', -7300, 'time.hours', '2'], ['days', -3 * 86400, 'time.days', '3'],
])('%s', (_name, seconds, key, n) => {
  expect(relative(at(seconds), now)).toEqual({ key, args: n === undefined ? {} : { n } })
})

it.each([
  ['hours', 7300, 'expiry.hours', '2'], ['minutes', 601, 'expiry.minutes', '10'], ['the last minute', 60, 'expiry.seconds', '60'],
  ['a started second', 0.2, 'expiry.seconds', '1'], ['over', 0, 'expiry.over', undefined],
])('%s left', (_name, seconds, key, n) => {
  expect(left(at(seconds), now)).toEqual({ key, args: n === undefined ? {} : { n } })
})

describe('no time', () => {
  it.each([undefined, null, '', '0001-01-01T00:00:00Z', 'soon'])('%j', (time) => {
    expect(instant(time)).toBeNull()
    expect(relative(time, now)).toBeNull()
    expect(left(time, now)).toBeNull()
    expect(countsDown(time, now)).toBe(false)
    expect(untilChange(time, now)).toBeNull()
  })
})

it('waits for the last minute, and then for each second', () => {
  expect(untilChange(at(90), now)).toBe(30_000)
  expect(untilChange(at(60), now)).toBe(1000)
  expect(untilChange(at(10.25), now)).toBe(250)
  expect(untilChange(at(-1), now)).toBeNull()
})
