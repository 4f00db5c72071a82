import { describe, expect, it } from 'vitest'
import en from '../../../app/i18n/en.json'
import { errorText, has, language, missingKeys, setLanguage, t } from './i18n'
import { chooseLanguage, fill, lookUp, stretches } from './translate'

describe('fill', () => {
  it('fills names, and leaves what it has no value for', () => { expect(fill('{n} of {all}', { n: 2 })).toBe('2 of {all}') })
  it('escapes what is put in', () => { expect(fill('in {project}', { project: 'a\u202Eb' })).toBe('in a\\u{202E}b') })
  it('does not read what was put in', () => { expect(fill('{a}', { a: '{b}', b: 'x' })).toBe('{b}') })
  // A name in letters of another direction turned the words around it.
  it('keeps a name of another direction apart, and leaves all others as they are', () => {
    expect(fill('{a} > {b}', { a: '\u05D0', b: 'x' })).toBe('\u2068\u05D0\u2069 > x')
  })
  it('is told in stretches, so that a name that reads like a sentence is seen to be one', () => {
    expect(stretches('{agent} uses {tool}.', { agent: 'A', tool: 'Bash. Enforced {agent}' }))
      .toEqual([{ text: 'A', name: 'agent' }, { text: ' uses ', name: null }, { text: 'Bash. Enforced {agent}', name: 'tool' }, { text: '.', name: null }])
  })
  it('has no names that every object has', () => { expect(fill('{constructor}', {})).toBe('{constructor}') })
})

it('looks only for keys of its own', () => {
  expect(lookUp({ a: 'x' }, 'a')).toBe('x')
  expect(lookUp({ a: 'x' }, 'toString')).toBeNull()
})

it.each([
  ['en', ['zh-CN'], 'en'], ['zh-CN', ['en'], 'zh-CN'], ['system', ['de', 'zh-Hans-CN', 'en'], 'zh-CN'], ['system', ['en-GB'], 'en'],
  ['system', [], 'en'], ['klingon', ['fr'], 'en'],
])('%s of %j is %s', (set, system, want) => { expect(chooseLanguage(set, system)).toBe(want) })

describe('the catalogues', () => {
  it('follow the language, and show and count a key they do not have', () => {
    setLanguage('en')
    expect(t('app.title')).toBe(en['app.title'])
    setLanguage('zh-CN')
    expect(language()).toBe('zh-CN')
    expect(t('no.such.key')).toBe('no.such.key')
    expect(missingKeys().get('no.such.key')).toBe(1)
    expect(has('app.title')).toBe(true)
    setLanguage('en')
  })
  it('have a sentence for an error without one', () => { expect(errorText('no_such_code')).toContain('no_such_code') })
})
