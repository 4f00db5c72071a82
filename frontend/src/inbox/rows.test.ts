import { describe, expect, it } from 'vitest'
import type { Call, Question } from '../wire/types.gen'
import { callEnding, isUnanswered, keepOrder, lineOf } from './rows'

const question = (id: string) => ({ id }) as Question
const call = (fields: Partial<Call>) => fields as Call

describe('keepOrder', () => {
  const ids = (list: Question[]) => list.map((q) => q.id).join(' ')
  it('appends what is new', () => {
    expect(ids(keepOrder([question('a'), question('b')], [question('a'), question('b'), question('c')], new Map(), null))).toBe('a b c')
  })
  // Once the row of an answered request went away at once, and the next click hit the row that had moved into its place.
  it('keeps the row of the open card when it was answered elsewhere', () => {
    expect(ids(keepOrder([question('a'), question('b')], [question('b')], new Map([['a', question('a')]]), 'a'))).toBe('a b')
    expect(ids(keepOrder([question('a'), question('b')], [question('b')], new Map([['a', question('a')]]), 'b'))).toBe('b')
  })
})

describe('lineOf', () => {
  it.each([
    ['Bash', { command: 'ls' }, undefined, 'ls'],
    ['Bash', { command: 'ls' }, 'ls -l', 'ls -l'],
    ['Edit', { new_string: 'x', file_path: 'a.ts' }, undefined, 'Edit a.ts'],
    ['Task', {}, undefined, 'Task'],
    ['Task', null, undefined, 'Task'],
  ])('%s %j', (tool, args, command, line) => expect(lineOf(tool, args, command)).toBe(line))
})

describe('callEnding', () => {
  it.each([
    [{ outcome: 'refused', comment: 'no' }, 'row.denied_note'], [{ outcome: 'done', exit: 0 }, 'row.allowed_ran'],
    [{ outcome: 'done', exit: 2 }, 'row.allowed_exit'], [{ outcome: 'expired' }, 'row.expired'], [{ state: 'waiting' }, 'row.waiting'],
  ])('%j', (fields, key) => expect(callEnding(call(fields)).key).toBe(key))
  it('never tells a time-out as a denial', () => expect(isUnanswered(call({ outcome: 'expired' }))).toBe(true))
})
