import { describe, expect, it } from 'vitest'
import type { Card, Changes, FileChange } from '../wire/types.gen'
import { card } from './question.fixture'
import { shownElsewhere, unseen } from './shown'

const file = (more: Partial<FileChange> = {}): FileChange => ({
  path: '/p/x', kind: 'edit', added: 1, removed: 1, before: 2, after: 2,
  hunks: [{ old_start: 1, new_start: 1, lines: [{ op: '-', text: 'a' }, { op: '+', text: 'b' }] }], ...more,
})
const { hunks: _, ...bare } = file()
const files = (...list: FileChange[]): Changes => ({ files: list })
const write = (args: object, more: Partial<Card> = {}): Card => card({ tool: 'write', args, ...more })
const edit = (args: object, more: Partial<Card> = {}): Card => card({ tool: 'edit', args, ...more })
const names = (of: Card, changes: Changes | null): string => [...shownElsewhere(of, changes)].sort().join(' ')

describe('what the lines of a change show', () => {
  const whole = { path: 'x', file_path: 'x', content: 'b', old_string: 'a', new_string: 'b', replace_all: true, notebook_path: 'n', new_source: 's', description: 'd' }
  // Every name that some tool writes with was hidden from every tool that writes, also when no line of the change was shown.
  it.each<[string, Card, Changes | null, string]>([
    ['a file written', write(whole), files(file({ kind: 'create' })), 'content file_path path'],
    ['an edit', edit(whole), files(file()), 'file_path new_string old_string path'],
    ['a list of edits', edit({ path: 'x', edits: [{ old_string: 'a', new_string: 'b' }], old_string: 'c' }), files(file()), 'edits path'],
    ['a list of edits with more in it', edit({ path: 'x', edits: [{ old_string: 'a', new_string: 'b', replace_all: true }] }), files(file()), 'path'],
    ['a patch', card({ tool: 'apply_patch', args: { patch: '*** Begin', content: 'b', path: 'x' } }), files(file()), ''],
    ['a tool that writes nothing', card({ tool: 'web', args: whole }), files(file()), ''],
    ['not known', write(whole), null, ''],
    ['no file', write(whole), files(), ''],
    ['too large', write(whole), files({ ...bare, kind: 'too_large' }), ''],
    ['binary', write(whole), files({ ...bare, kind: 'binary' }), ''],
    ['failed', edit(whole), files({ ...bare, kind: 'failed' }), ''],
    ['a kind of a later version', edit(whole), files(file({ kind: 'rename' })), ''],
    ['one of two not shown', edit(whole), files(file(), { ...bare, kind: 'too_large' }), ''],
    ['nothing changes', write(whole), files({ ...bare, added: 0, removed: 0 }), ''],
    ['a content that is no text', write({ path: 'x', content: { a: 1 } }), files(file()), 'path'],
  ])('%s', (_name, of, changes, want) => expect(names(of, changes)).toBe(want))
})

describe('what a command shows', () => {
  it('is its text', () => expect(names(card({ args: { command: 'ls', env: {} } }), null)).toBe('command'))
  it('is not another text of that name', () => expect(names(card({ args: { command: ['ls', '-l'] } }), null)).toBe(''))
  // The name "description" was dropped from the arguments of every tool, whatever it held.
  it.each<[string, Partial<Card>, string]>([
    ['said whole', { args: { description: 'list' }, says: 'list' }, 'description'],
    ['said shortened', { args: { description: 'a long list' }, says: 'a … ' }, ''],
    ['not said', { args: { description: { a: 1 } } }, ''],
    ['of another tool', { tool: 'mail', args: { description: 'list' }, says: 'list' }, ''],
  ])('and a description %s', (_name, more, want) => expect(names(card(more), null)).toBe(want))
})

describe('what is unseen', () => {
  const omitted = { content: 40_000 }
  it.each<[string, Card, Changes | null, boolean, boolean]>([
    ['nothing of a command', card(), null, false, false],
    ['an argument that was left out', card({ omitted: { env: 40_000 } }), null, true, false],
    ['all of them', write({}, { omitted: { '': 40_000 } }), files(file()), true, false],
    ['nothing, where the lines show it', write({ path: 'x' }, { omitted }), files(file()), false, false],
    ['a content without lines', write({ path: 'x' }, { omitted }), files({ ...bare, kind: 'too_large' }), true, true],
    ['a binary change', write({ path: 'x', content: '\0' }), files({ ...bare, kind: 'binary' }), false, true],
    ['a change that is not known yet', edit({ path: 'x' }), null, false, true],
    ['a change of no file', edit({ path: 'x' }), files(), false, true],
    ['nothing, where nothing changes', write({ path: 'x' }), files({ ...bare, added: 0, removed: 0 }), false, false],
  ])('%s', (_name, of, changes, argument, change) => expect(unseen(of, changes)).toEqual({ argument, change }))
})
