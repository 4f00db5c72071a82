import { describe, expect, it } from 'vitest'
import type { AppStatus, Status } from '../wire/types.gen'
import { banners, type Conditions } from './banners'
import { boundaryState } from './boundary'

const quiet: Conditions = { browser: false, connection: 'ready', otherVersion: null, app: null, status: null, pause: { paused: false }, mayAnswer: true, until: '', dismissed: new Set() }
const ids = (change: Partial<Conditions>): string => banners({ ...quiet, ...change }).map((b) => b.id).join(' ')

describe('banners', () => {
  it.each<[string, Partial<Conditions>, string]>([
    ['nothing to say', {}, ''],
    ['the core is gone', { connection: 'lost', mayAnswer: false }, 'lost'],
    // A core that was started again knows no browser of before: without the new link the page would wait for ever.
    ['the core is gone, in a browser', { browser: true, connection: 'lost', mayAnswer: false }, 'lost_browser'],
    ['looking only', { mayAnswer: false }, 'look_only'],
    ['paused for a while', { pause: { paused: true }, until: '10:15' }, 'paused_until'],
    ['paused until resumed', { pause: { paused: true } }, 'paused'],
    ['lost while paused: worst first', { connection: 'lost', pause: { paused: true } }, 'lost paused'],
    ['another version', { connection: 'other_version', otherVersion: '2' }, 'other_version'],
  ])('%s', (_, change, want) => expect(ids(change)).toBe(want))
})

describe('banners about the desktop', () => {
  const there = { available: true }
  const app = (change: Partial<AppStatus>): AppStatus =>
    ({ phase: 'ready', version: '1', platform: 'linux', language: 'en', demo: false, tray: there, notifications: there, ...change })
  const lacks = (code: string) => ({ available: false, code })
  it.each<[string, Partial<AppStatus> | null, string]>([
    ['in a browser', null, ''],
    ['all is there', {}, ''],
    ['no tray host', { tray: lacks('no_tray_host') }, 'no_tray'],
    ['no session bus for the tray', { tray: lacks('tray_no_desktop') }, 'no_tray'],
    ['a tray code that is not known', { tray: lacks('something_new') }, 'no_tray'],
    ['no tray program', { tray: lacks('tray_missing') }, 'tray_missing'],
    ['the tray program ended too often', { tray: lacks('tray_failed') }, 'tray_failed'],
    ['a build without a tray', { tray: lacks('tray_unsupported') }, 'tray_unsupported'],
    ['on their way', { tray: lacks('tray_starting'), notifications: lacks('notifications_starting') }, ''],
    ['no notifications', { notifications: lacks('no_notification_service') }, 'no_notices'],
    ['notifications are turned off', { notifications: lacks('notifications_not_allowed') }, 'notices_not_allowed'],
    // With no tray either, nobody may be sent to look at it.
    ['neither', { tray: lacks('no_tray_host'), notifications: lacks('no_notification_service') }, 'no_tray no_notices_no_tray'],
    ['a demo has no tray on purpose', { demo: true, tray: lacks('no_tray_host'), notifications: lacks('no_notification_service') }, 'demo no_notices_no_tray'],
  ])('%s', (_, change, want) => expect(ids({ app: change === null ? null : app(change) })).toBe(want))

  it('are put away one by one, quietly, and only they', () => {
    const both = app({ tray: lacks('no_tray_host'), notifications: lacks('no_notification_service') })
    expect(banners({ ...quiet, app: both }).every((b) => b.act === 'dismiss' && b.tone === '')).toBe(true)
    expect(ids({ app: both, dismissed: new Set(['no_tray']) })).toBe('no_notices_no_tray')
    expect(ids({ app: both, connection: 'lost', dismissed: new Set(['no_tray', 'no_notices_no_tray', 'lost']) })).toBe('lost')
  })
})

describe('boundaryState', () => {
  const with_ = (enforcement: string) => ({ boundary: { enforcement, backend: '' } }) as Status
  it('never calls enforced what is not known to be', () => {
    expect(boundaryState(null).key).toBe('enforcement.asking')
    expect(boundaryState(with_('Later')).key).toBe('enforcement.unavailable')
    expect(boundaryState(with_('Enforced')).key).toBe('enforcement.enforced')
  })
})
