import { describe, expect, it } from 'vitest'
import { activatesButton, ignoredKey, isInput, type KeyLike } from './input'
import { commandOf, keyHelp, type Focus, type KeyContext } from './keys'

/** A key as "Ctrl+Shift+Enter". */
function pressed(text: string, more: Partial<KeyLike> = {}): KeyLike {
  const names = text === '+' ? ['+'] : text.split('+')
  const key = names.at(-1) ?? ''
  return {
    key, code: '', keyCode: 0, repeat: false, isComposing: false,
    ctrlKey: names.includes('Ctrl'), metaKey: names.includes('Cmd'), altKey: names.includes('Alt'), shiftKey: names.includes('Shift'), ...more,
  }
}
const inPlace = (focus: Focus, more: Partial<KeyContext> = {}): KeyContext => ({ mac: false, focus, letters: true, denying: false, ...more })

describe('the keys', () => {
  const cases: [string, Focus, string | null][] = [
    ['Ctrl+Enter', 'card', 'allow_once'], ['Ctrl+Enter', 'list', 'allow_once'], ['Ctrl+Enter', 'other', 'allow_once'],
    ['Ctrl+Enter', 'comment', 'allow_once'], ['Ctrl+Enter', 'note', 'send_note'], ['Ctrl+Enter', 'text', null],
    ['Ctrl+Shift+Enter', 'card', 'scope_review'], ['Ctrl+Shift+Enter', 'comment', 'scope_review'], ['Ctrl+Shift+Enter', 'note', null],
    ['Ctrl+Backspace', 'card', 'deny'], ['Ctrl+Shift+Backspace', 'card', 'deny_note'],
    ['Ctrl+Backspace', 'comment', null], ['Ctrl+Backspace', 'note', null], ['Ctrl+Backspace', 'text', null], ['Ctrl+Shift+Backspace', 'text', null],
    ['ArrowDown', 'list', 'next'], ['ArrowUp', 'list', 'previous'], ['ArrowDown', 'card', null], ['ArrowDown', 'text', null], ['ArrowUp', 'note', null], ['Shift+ArrowDown', 'list', null],
    // After an answer by mouse nothing has the focus, and once no key of the list did anything then.
    ['ArrowDown', 'other', 'next'], ['ArrowUp', 'other', 'previous'], ['ArrowDown', 'choice', null], ['j', 'choice', 'next'],
    ['k', 'other', 'previous'], ['Shift+?', 'other', 'help'], ['e', 'other', null], ['d', 'other', null], ['c', 'other', null], ['r', 'other', null],
    ['j', 'list', 'next'], ['k', 'card', 'previous'], ['J', 'list', 'next'], ['e', 'card', 'expand'], ['d', 'card', 'diff'],
    ['c', 'card', 'comment'], ['r', 'card', 'repeat_aloud'], ['Shift+?', 'list', 'help'], ['j', 'other', 'next'], ['Shift+J', 'list', null],
    ['j', 'text', null], ['c', 'comment', null], ['?', 'note', null], ['x', 'card', null], ['Ctrl+j', 'card', null], ['Alt+j', 'card', null],
    ['Ctrl+1', 'card', 'page_inbox'], ['Ctrl+5', 'other', 'page_settings'], ['Ctrl+3', 'text', 'page_projects'], ['Ctrl+6', 'card', null],
    ['1', 'mode_menu', 'mode_1'], ['5', 'mode_menu', 'mode_5'], ['6', 'mode_menu', null], ['1', 'card', null], ['1', 'list', null],
    ['Ctrl+f', 'card', 'filter'], ['Ctrl+f', 'other', 'filter'], ['f', 'card', null],
    ['Escape', 'card', 'back'], ['Escape', 'comment', 'back'], ['Escape', 'other', 'back'], ['Escape', 'mode_menu', 'back'],
    ['Enter', 'card', null], ['Enter', 'list', null], ['Enter', 'other', null], [' ', 'card', null], [' ', 'list', null], ['y', 'card', null],
    ['Shift+Enter', 'card', null], ['Backspace', 'card', null], ['Delete', 'card', null],
    ['Cmd+Enter', 'card', null], ['Ctrl+Alt+Enter', 'card', null], ['Ctrl+Cmd+Enter', 'card', null],
  ]
  it.each(cases)('%s with focus in %s: %s', (text, focus, want) => { expect(commandOf(pressed(text), inPlace(focus))).toBe(want) })
})

// While a denial was being written, the chord allowed from wherever else the focus was: from the box "Also stop this turn",
// from the button that sends the note, after a click on the hint, from Deny itself and from "Deny all that wait".
describe('the chord of Allow means no allow', () => {
  it('on what refuses', () => {
    expect(commandOf(pressed('Ctrl+Enter'), inPlace('refuses'))).toBeNull()
    expect(commandOf(pressed('Ctrl+Shift+Enter'), inPlace('refuses'))).toBeNull()
    expect(commandOf(pressed('Ctrl+Backspace'), inPlace('refuses'))).toBe('deny')
  })
  it('while a note of a denial is open, wherever the focus is', () => {
    for (const focus of ['list', 'card', 'mode_menu', 'comment', 'note', 'text', 'choice', 'refuses', 'other'] as const) {
      for (const text of ['Ctrl+Enter', 'Ctrl+Shift+Enter']) {
        const means = commandOf(pressed(text), inPlace(focus, { denying: true }))
        expect(means === 'send_note' ? focus : means).toBe(text === 'Ctrl+Enter' && focus === 'note' ? 'note' : null)
      }
    }
  })
})

it('uses Cmd on a Mac, where Ctrl is another key', () => {
  expect(commandOf(pressed('Cmd+Enter'), inPlace('card', { mac: true }))).toBe('allow_once')
  expect(commandOf(pressed('Ctrl+Enter'), inPlace('card', { mac: true }))).toBeNull()
})

it('has no letters where they are switched off', () => {
  for (const key of ['j', 'k', 'e', 'd', 'c', 'r', '?']) expect(commandOf(pressed(key), inPlace('card', { letters: false }))).toBeNull()
  expect(commandOf(pressed('ArrowDown'), inPlace('list', { letters: false }))).toBe('next')
})

it('finds digits by their place where a layout has other signs there', () => {
  expect(commandOf(pressed('Ctrl+é', { code: 'Digit2' }), inPlace('card'))).toBe('page_sessions')
})

describe('what acts on nothing', () => {
  const cases: [string, Partial<KeyLike>][] = [
    ['a repeat', { repeat: true }], ['composing', { isComposing: true }], ['taken by an input method', { keyCode: 229 }], ['a process key', { key: 'Process' }],
  ]
  it.each(cases)('%s', (_name, more) => {
    for (const text of ['Ctrl+Enter', 'Ctrl+Backspace', 'j', 'Escape']) {
      const event = pressed(text, more)
      expect(ignoredKey(event)).toBe(true)
      expect(commandOf(event, inPlace('card'))).toBeNull()
    }
  })
})

it('no key without Mod allows or denies, wherever the focus is', () => {
  const deciding = new Set(['allow_once', 'deny', 'send_note'])
  const keys = ['Enter', ' ', 'Backspace', 'Delete', 'Escape', 'Tab', ...'abcdefghijklmnopqrstuvwxyz0123456789?/.']
  for (const focus of ['list', 'card', 'mode_menu', 'comment', 'note', 'text', 'choice', 'refuses', 'other'] as const) {
    for (const key of keys) for (const shiftKey of [false, true]) {
      expect(deciding.has(commandOf(pressed('x', { key, shiftKey }), inPlace(focus)) ?? '')).toBe(false)
    }
  }
})

it('counts a chord as input by its last key only', () => {
  expect(['Control', 'Shift', 'Meta', 'AltGraph'].map((key) => isInput(pressed(key)))).toEqual([false, false, false, false])
  expect(isInput(pressed('a', { repeat: true }))).toBe(true)
  expect(activatesButton({ key: 'a', code: 'KeyA' })).toBe(false)
})

it('has a row of help for every command of the card and the pages', () => {
  const shown = new Set(keyHelp.map((row) => row.command))
  for (const command of ['allow_once', 'scope_review', 'deny', 'deny_note', 'next', 'previous', 'expand', 'diff', 'comment', 'repeat_aloud', 'filter', 'back', 'help', 'page_inbox', 'page_settings'] as const) {
    expect(shown.has(command)).toBe(true)
  }
})
