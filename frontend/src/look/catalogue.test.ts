import { describe, expect, it } from 'vitest'
import en from '../../../app/i18n/en.json'
import zhCN from '../../../app/i18n/zh-CN.json'
import { keyHelp } from '../decide/keys'
import { pages } from '../state/types'

const sources = import.meta.glob<string>(['../**/*.svelte', '../**/*.ts', '!../**/*.test.ts', '!../**/*.fixture.ts'], { query: '?raw', import: 'default', eager: true })
const catalogue: Readonly<Record<string, string>> = en
const chinese: Readonly<Record<string, string>> = zhCN

/** Keys that are put together from words of the wire, family by family. */
const families: Readonly<Record<string, readonly string[]>> = {
  page: pages,
  help: keyHelp.map((row) => row.command),
  step: Array.from({ length: 13 }, (_, i) => String(i + 1)),
  boundary: ['enforced', 'write', 'agent', 'unbounded'].flatMap((kind) => [kind, `${kind}.what`, `${kind}.means`]),
  banner: ['lost', 'lost_browser', 'connecting', 'other_version', 'read_only', 'paused', 'paused_until', 'look_only', 'source_unreadable', 'demo', 'act.resume', 'act.reload', 'act.dismiss',
    'no_tray', 'tray_missing', 'tray_failed', 'tray_unsupported', 'no_notices', 'no_notices_no_tray', 'notices_not_allowed'],
  bar: ['waits_end', 'waits_stale', 'waits_focus'],
  part: ['covered', 'new', 'opaque', 'demo'],
  network: ['off', 'proxied', 'open', 'unknown'],
  answer: ['allow', 'ask', 'deny', 'pass', 'not_reached', 'unknown'],
  caution: ['agent', 'unbounded', 'risk', 'opaque', 'outside_roots', 'dangerous_path', 'argument', 'change', 'rule', 'other'],
  record: ['start', 'end', 'write', 'decision', 'released', 'other', 'denied', 'refused', 'expired'],
  card: ['sentence', 'wanted', 'denied', 'let', 'running', 'ran', 'failed', 'unknown'].flatMap((fate) => ['command', 'write', 'tool'].map((what) => `${fate}.${what}`)),
  'end.by': ['here', 'elsewhere', 'owner', 'other'],
  run: ['not', 'failed', 'signal', 'done', 'good', 'exit', 'running', 'released', 'not_yet', 'reported', 'unreported', 'unknown', 'expired', 'cancelled', 'origin_gone'],
  copy: ['copy', 'copied', 'by_hand'],
  scope: ['session', 'project', 'global', 'other', 'kept.session', 'kept.project', 'kept.global', 'kept.other'],
  changes: ['create', 'binary', 'too_large', 'add', 'del'],
  settings: ['tray', 'notifications', 'tray.missing', 'notifications.missing'],
  passphrase: ['title', 'means', 'open', 'new.title', 'new.means', 'new.open'],
}

describe('the catalogue', () => {
  it.each(Object.entries(sources))('has every key that %s names', (_, text) => {
    const keys = [...text.matchAll(/\bt\('([a-z0-9_.]+)'|\? '([a-z_]+\.[a-z_.]+)' :|: '([a-z_]+\.[a-z_.]+)'[),]|key: '([a-z_]+\.[a-z_.0-9]+)'/g)]
      .map((found) => found[1] ?? found[2] ?? found[3] ?? found[4] ?? '')
    expect(keys.filter((key) => !Object.hasOwn(catalogue, key))).toEqual([])
  })
  it.each(Object.entries(families))('has the family %s', (family, words) => {
    expect(words.filter((word) => !Object.hasOwn(catalogue, `${family}.${word}`))).toEqual([])
  })
  it('says the same things in both languages', () => {
    expect(Object.keys(chinese)).toEqual(Object.keys(catalogue))
  })
})

describe('the pages', () => {
  // The content security policy forbids style attributes, and raw HTML would let an agent's words become markup.
  it.each(Object.entries(sources).filter(([name]) => name.endsWith('.svelte')))('%s has no inline style and no raw HTML', (_, text) => {
    expect(text).not.toMatch(/\sstyle=|\sstyle:|\{@html/)
  })
  it.each(Object.entries(sources).filter(([name]) => name.endsWith('.svelte')))('%s is under 150 lines and disables no button', (_, text) => {
    expect(text.split('\n').length).toBeLessThan(150)
    expect(text).not.toMatch(/\sdisabled[=\s>]/)
  })
})
