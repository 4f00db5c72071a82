import { beforeEach, describe, expect, it, vi } from 'vitest'
import { allowVisible, denyVisible, inputPause, riskVisible, stepVisible, type Content } from './arming'
import { Guard, type Act } from './guard.svelte'
import { keyClickTime } from './press'

// What the guard uses of a browser, as far as Node has none.
class FakePointer extends Event {
  button = 0
  isPrimary = true
  detail = 1
  pointerType = 'mouse'
  #path: EventTarget[]
  constructor(name: string, path: EventTarget[], more: object = {}) {
    super(name)
    this.#path = path
    Object.assign(this, more)
  }
  override composedPath(): EventTarget[] { return this.#path }
}
class FakeKey extends Event {
  constructor(name: string, readonly key: string, readonly code = key) { super(name, { cancelable: true }) }
}
class FakeElement extends EventTarget {}
vi.stubGlobal('PointerEvent', FakePointer)
vi.stubGlobal('KeyboardEvent', FakeKey)
vi.stubGlobal('Element', FakeElement)

class FakePage extends EventTarget {
  document = Object.assign(new EventTarget(), { visibilityState: 'visible', hasFocus: () => true })
}

const calm: Content = { key: 'q', highRisk: false, needsEnd: false, stale: false }

describe('the guard', () => {
  let page: FakePage
  let guard: Guard
  let button: FakeElement
  let acts: Act[]

  const open = (content: Content): void => {
    guard.listen(page as unknown as Window)
    guard.button('allow', 'allow', (act) => acts.push(act))(button as unknown as HTMLElement)
    guard.content(content)
    guard.visible(true)
  }
  const click = (more: object = {}): void => {
    page.dispatchEvent(new FakePointer('pointerdown', [button], more))
    page.dispatchEvent(new FakePointer('pointerup', [button], more))
    button.dispatchEvent(new FakePointer('click', [button], more))
  }
  const chord = (): Act => {
    page.dispatchEvent(new FakeKey('keydown', 'Control'))
    const event = new FakeKey('keydown', 'Enter')
    page.dispatchEvent(event)
    return guard.act('allow', event)
  }

  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000_000 })
    page = new FakePage()
    guard = new Guard(() => Date.now())
    button = new FakeElement()
    acts = []
  })

  it('shows by itself when time has armed the buttons', () => {
    open(calm)
    expect(guard.view).toMatchObject({ allow: 'waiting', deny: 'waiting' })
    vi.advanceTimersByTime(allowVisible)
    expect(guard.view).toMatchObject({ allow: 'armed', deny: 'armed' })
  })
  it('takes one click of a pointer', () => {
    open(calm)
    vi.advanceTimersByTime(allowVisible)
    click()
    click({ detail: 2 })
    expect(acts).toEqual(['decides'])
    expect(guard.view.allow).toBe('waiting')
  })
  it('does not take an early click, nor one soon after it', () => {
    open(calm)
    vi.advanceTimersByTime(allowVisible - 1)
    click()
    vi.advanceTimersByTime(inputPause - 1)
    click()
    expect(acts).toEqual([])
  })
  it('takes a chord, whose own keys are no input before it', () => {
    open(calm)
    vi.advanceTimersByTime(allowVisible)
    expect(chord()).toBe('decides')
    expect(chord()).toBe('waits')
  })
  it('does not take a chord that is hammered', () => {
    open(calm)
    for (let i = 0; i < 40; i++) {
      expect(chord()).toBe('waits')
      vi.advanceTimersByTime(100)
    }
  })
  it('does not take a chord while somebody types', () => {
    open(calm)
    vi.advanceTimersByTime(5000)
    page.dispatchEvent(new FakeKey('keydown', 'a'))
    vi.advanceTimersByTime(inputPause - 1)
    expect(chord()).toBe('waits')
  })
  it('opens the second step first, by a click', () => {
    open({ ...calm, highRisk: true })
    vi.advanceTimersByTime(riskVisible)
    expect(guard.view.allow).toBe('second_step')
    click()
    expect(acts).toEqual(['second_step'])
    expect(guard.view).toMatchObject({ allow: 'waiting', step: true })
    click({ detail: 2 })
    vi.advanceTimersByTime(stepVisible)
    expect(guard.view.allow).toBe('armed')
    click()
    expect(acts).toEqual(['second_step', 'decides'])
  })
  it('opens the second step first, by keys, and leaves it', () => {
    open({ ...calm, highRisk: true })
    vi.advanceTimersByTime(riskVisible)
    expect(chord()).toBe('second_step')
    expect(chord()).toBe('waits')
    expect(guard.stepBack()).toBe(true)
    expect(guard.stepBack()).toBe(false)
    vi.advanceTimersByTime(inputPause)
    expect(chord()).toBe('second_step')
  })
  it('takes the click of assistive technology', () => {
    open(calm)
    vi.advanceTimersByTime(allowVisible)
    button.dispatchEvent(new FakePointer('click', [button], { detail: 0, pointerType: '' }))
    expect(acts).toEqual(['decides'])
  })
  it.each([['Enter', 'Enter'], [' ', 'Space']])('takes the key %j from the button, and not the click an engine makes of it', (key, code) => {
    open(calm)
    vi.advanceTimersByTime(allowVisible)
    for (const name of ['keydown', 'keyup']) {
      const event = new FakeKey(name, key, code)
      page.dispatchEvent(event)
      const own = new FakeKey(name, key, code)
      button.dispatchEvent(own)
      expect(own.defaultPrevented).toBe(true)
      button.dispatchEvent(new FakePointer('click', [button], { detail: 0, pointerType: '' }))
    }
    expect(acts).toEqual([])
  })
  // Deny waits for no pause in the input, so that nothing but the press itself tells the click of a key from a person's own.
  it.each([['Enter', 'Enter'], [' ', 'Space']])('a focused Deny does not take the key %j, pressed once, held or repeated, nor the clicks an engine makes of it', (key, code) => {
    const refuse = new FakeElement()
    open(calm)
    guard.button('deny', 'deny', (act) => acts.push(act))(refuse as unknown as HTMLElement)
    const made = (): void => { refuse.dispatchEvent(new FakePointer('click', [refuse], { detail: 0, pointerType: '' })) }
    const press = (name: string): void => {
      page.dispatchEvent(new FakeKey(name, key, code))
      const own = new FakeKey(name, key, code)
      refuse.dispatchEvent(own)
      expect(own.defaultPrevented).toBe(true)
      made()
    }
    vi.advanceTimersByTime(denyVisible)
    expect(guard.view.deny).toBe('armed')
    for (let i = 0; i < 40; i++) {
      press('keydown')
      vi.advanceTimersByTime(keyClickTime)
      made()
    }
    press('keyup')
    vi.advanceTimersByTime(keyClickTime)
    made()
    expect([acts, guard.view.deny]).toEqual([[], 'armed'])
    // Long after the key a click without a pointer is a screen reader's.
    vi.advanceTimersByTime(1)
    made()
    expect(acts).toEqual(['decides'])
  })
  it('a fresh chord denies, though a key was just pressed; the next one finds it decided', () => {
    open(calm)
    vi.advanceTimersByTime(denyVisible)
    const chordOf = (): Act => {
      const event = new FakeKey('keydown', 'Backspace')
      page.dispatchEvent(event)
      return guard.act('deny', event)
    }
    page.dispatchEvent(new FakeKey('keydown', 'a'))
    expect([chordOf(), chordOf()]).toEqual(['decides', 'waits'])
  })
  it('waits again after the focus, and while the page is hidden', () => {
    open(calm)
    vi.advanceTimersByTime(allowVisible)
    page.dispatchEvent(new Event('blur'))
    expect(guard.view).toMatchObject({ allow: 'waiting', deny: 'waiting', waitsFor: 'focus' })
    page.dispatchEvent(new Event('focus'))
    click()
    vi.advanceTimersByTime(allowVisible)
    expect(guard.view.allow).toBe('armed')
    page.document.visibilityState = 'hidden'
    page.document.dispatchEvent(new Event('visibilitychange'))
    expect(guard.view.waitsFor).toBe('sight')
    expect(acts).toEqual([])
  })
  it('begins again when an answer came to nothing', () => {
    open(calm)
    vi.advanceTimersByTime(allowVisible)
    click()
    guard.released()
    vi.advanceTimersByTime(allowVisible)
    click()
    expect(acts).toEqual(['decides', 'decides'])
  })
})
