import { expect, it } from 'vitest'
import { Drafts } from './drafts'

// A half-written note went with its card: another row or page was opened, and it was gone.
it('keeps what was begun with its own request, until that is closed', () => {
  const drafts = new Drafts()
  drafts.keep('a', 'not in ')
  drafts.keep('b', 'use the other one')
  expect([drafts.of('a'), drafts.of('b'), drafts.of('c')]).toEqual(['not in ', 'use the other one', ''])
  drafts.only(['b', 'c'])
  expect([drafts.of('a'), drafts.of('b')]).toEqual(['', 'use the other one'])
  drafts.keep('b', ' \n')
  expect(drafts.of('b')).toBe('')
})
