import { describe, expect, it } from 'vitest'
import { Ends } from './ends.svelte'
import { latest } from './sight'

class FakeWatcher {
  watched: Element[] = []
  constructor(readonly tell: (entries: { target: Element; intersectionRatio: number }[]) => void) {}
  observe(end: Element): void { this.watched.push(end) }
  unobserve(end: Element): void { this.watched = this.watched.filter((one) => one !== end) }
  disconnect(): void { this.watched = [] }
}
const element = (): Element => ({}) as Element

// "The end was shown" was measured inside of the command's box: a box scrolled to its end below the fold counted.
describe('the ends', () => {
  const set = (): { ends: Ends; tell: (end: Element, ...ratios: number[]) => void; watched: () => Element[] } => {
    let watcher: FakeWatcher | undefined
    const ends = new Ends((tell) => (watcher = new FakeWatcher(tell)))
    return { ends, tell: (target, ...ratios) => watcher?.tell(ratios.map((intersectionRatio) => ({ target, intersectionRatio }))), watched: () => watcher?.watched ?? [] }
  }
  it('are seen when each was in the window', () => {
    const { ends, tell } = set()
    const [command, facts] = [element(), element()]
    expect([ends.all, ends.hidden]).toEqual([false, false])
    ends.at()(command)
    ends.at()(facts)
    tell(command, 1)
    tell(facts, 0)
    expect([ends.all, ends.hidden]).toEqual([false, true])
    tell(facts, 0.5)
    expect(ends.all).toBe(false)
    tell(facts, 0.8)
    expect([ends.all, ends.hidden]).toEqual([true, false])
    tell(command, 0)
    expect(ends.all).toBe(true)
  })
  it('tell whoever asked, once', () => {
    const { ends, tell } = set()
    const end = element()
    let told = 0
    ends.at(() => told++)(end)
    tell(end, 0, 1)
    tell(end, 0, 1)
    expect(told).toBe(1)
  })
  it('are seen again for another text', () => {
    const { ends, tell, watched } = set()
    const end = element()
    ends.at()(end)
    tell(end, 1)
    ends.restart()
    expect([ends.all, watched()]).toEqual([false, [end]])
    tell(end, 1)
    expect(ends.all).toBe(true)
  })
  it('grow with what comes later, and end with it', () => {
    const { ends, tell, watched } = set()
    const [facts, lines] = [element(), element()]
    const left = ends.at()(facts)
    tell(facts, 1)
    const gone = ends.at()(lines)
    expect(ends.all).toBe(false)
    gone()
    expect(ends.all).toBe(true)
    left()
    expect([ends.all, watched()]).toEqual([false, []])
  })
})

// One call told of "in the window" and then "out of it", and the first was taken.
it('the card is in sight by the latest of what was told', () => {
  expect(latest([{ isIntersecting: true }, { isIntersecting: false }])).toBe(false)
  expect(latest([{ isIntersecting: false }, { isIntersecting: true }])).toBe(true)
  expect(latest([])).toBe(false)
})
