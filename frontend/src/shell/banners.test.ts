import { describe, expect, it } from 'vitest'
import type { Status } from '../wire/types.gen'
import { banners, type Conditions } from './banners'
import { boundaryState } from './boundary'

const quiet: Conditions = { connection: 'ready', otherVersion: null, app: null, status: null, pause: { paused: false }, mayAnswer: true, until: '' }
const ids = (change: Partial<Conditions>): string => banners({ ...quiet, ...change }).map((b) => b.id).join(' ')

describe('banners', () => {
  it.each<[string, Partial<Conditions>, string]>([
    ['nothing to say', {}, ''],
    ['the core is gone', { connection: 'lost', mayAnswer: false }, 'lost'],
    ['looking only', { mayAnswer: false }, 'look_only'],
    ['paused for a while', { pause: { paused: true }, until: '10:15' }, 'paused_until'],
    ['paused until resumed', { pause: { paused: true } }, 'paused'],
    ['lost while paused: worst first', { connection: 'lost', pause: { paused: true } }, 'lost paused'],
    ['another version', { connection: 'other_version', otherVersion: '2' }, 'other_version'],
  ])('%s', (_, change, want) => expect(ids(change)).toBe(want))
})

describe('boundaryState', () => {
  const with_ = (enforcement: string) => ({ boundary: { enforcement, backend: '' } }) as Status
  it('never calls enforced what is not known to be', () => {
    expect(boundaryState(null).key).toBe('enforcement.asking')
    expect(boundaryState(with_('Later')).key).toBe('enforcement.unavailable')
    expect(boundaryState(with_('Enforced')).key).toBe('enforcement.enforced')
  })
})
