import { describe, expect, it } from 'vitest'
import { clock, moment } from './when'

const at = '2026-03-04T10:00:00Z'
const start = Date.parse(at)

describe('clock', () => {
  it('is empty for the zero time of the wire', () => {
    expect(clock('0001-01-01T00:00:00Z')).toBe('')
    expect(moment(undefined)).toBe('')
  })
  it('names the day when it was another', () => {
    expect(clock(at, start).length).toBe(5)
    expect(clock(at, start + 48 * 3600 * 1000).length).toBeGreaterThan(5)
  })
})
