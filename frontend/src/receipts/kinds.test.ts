import { describe, expect, it } from 'vitest'
import type { Receipt } from '../wire/types.gen'
import { kindKey, kindShape, released, stoppedBy } from './kinds'

const record = (kind: string, extra?: Record<string, string>): Receipt['record'] => ({
  id: 'r', kind, time: '', request: 'c', call: 'c', session: 's', principal: 'p', ...(extra === undefined ? {} : { extra }),
})

// The page once said of every decision that the agent ran the call itself, also of one that a rule or the owner had stopped.
describe('the record of a decision', () => {
  it.each<[string, Record<string, string> | undefined, string, string]>([
    ['a rule stopped it', { outcome: 'denied' }, 'record.denied', 'cross'],
    ['the owner stopped it', { outcome: 'refused' }, 'record.refused', 'cross'],
    ['nobody answered', { outcome: 'expired' }, 'record.expired', 'dash'],
    ['left to the agent', { outcome: 'allow', executed_by: 'claude' }, 'record.released', 'dot'],
    ['run by the desk', { outcome: 'allow', executed_by: 'countersign' }, 'record.decision', 'dot'],
    ['nothing is said', undefined, 'record.decision', 'dot'],
    ['a word of a later version', { outcome: 'postponed', executed_by: 'claude' }, 'record.decision', 'dot'],
  ])('%s', (_, extra, key, shape) => {
    expect([kindKey(record('decision', extra)), kindShape(record('decision', extra))]).toEqual([key, shape])
  })
  it('stops and releases nothing in another kind', () => {
    expect([stoppedBy(record('end', { outcome: 'denied' })), released(record('end', { outcome: 'allow', executed_by: 'claude' }))]).toEqual(['', false])
  })
})
