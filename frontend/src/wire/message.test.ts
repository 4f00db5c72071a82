import { describe, expect, it } from 'vitest'
import { newCommandID } from './commandid'
import { maxMessage, parseObject, readFrame, readReply } from './message'

describe('what is no message', () => {
  const cases: [string, unknown][] = [
    ['no text', 5], ['nothing', ''], ['no JSON', '{'], ['an array', '[]'], ['null', 'null'], ['a number', '1'], ['a string', '"x"'],
    ['too deep', '{"a":'.repeat(200_000)], ['too long', `{"a":"${'x'.repeat(maxMessage)}"}`],
  ]
  it.each(cases)('%s', (_name, text) => { expect(parseObject(text)).toBeNull() })
})

describe('replies', () => {
  it('has a result', () => { expect(readReply({ command_id: 'a', applied: true, result: { n: 1 } })).toEqual({ command_id: 'a', applied: true, result: { n: 1 } }) })
  it('has an error, with arguments that are texts', () => {
    expect(readReply({ command_id: 'a', applied: false, error: { code: 'x', args: { a: 'b', c: 1 } } })).toEqual({ command_id: 'a', applied: false, error: { code: 'x', args: { a: 'b' } } })
  })
  it.each([
    ['no id', { applied: true }], ['applied is a text', { command_id: 'a', applied: 'true' }], ['an error without a code', { command_id: 'a', applied: false, error: {} }],
    ['an error that is a text', { command_id: 'a', applied: false, error: 'x' }],
  ])('not with %s', (_name, fields) => { expect(readReply(fields)).toBeNull() })
})

describe('frames', () => {
  const frame = { frame: 'x', epoch: 'e', seq: 2, prev_seq: 1, time: 't', data: {} }
  it('are read', () => { expect(readFrame(frame)).toEqual(frame) })
  it.each([
    ['no name', { frame: '' }], ['a seq that is a text', { seq: '2' }], ['a seq that is no count', { seq: -1 }], ['a seq beyond what is exact', { seq: 2 ** 60 }],
    ['a broken seq', { seq: 1.5 }], ['no data', { data: null }], ['data that is a list', { data: [] }], ['no epoch', { epoch: 1 }],
  ])('not with %s', (_name, more) => { expect(readFrame({ ...frame, ...more })).toBeNull() })
})

it('makes command ids in the order of time', () => {
  const id = newCommandID(Date.parse('2026-03-01T12:00:00Z'))
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(newCommandID(1000) < newCommandID(2000)).toBe(true)
  expect(newCommandID()).not.toBe(newCommandID())
})
