import { describe, expect, it } from 'vitest'
import { initialArming, nextArming, type ArmingEvent, type ArmingState, type Content } from './arming'
import { keyClickTime, noPress, pointerClickTime, pressCancel, pressClick, pressDown, pressKey, pressUp, type ClickLike } from './press'

const calm: Content = { key: 'q', highRisk: false, needsEnd: false, stale: false }
const base: ArmingEvent[] = [
  { type: 'focus', at: 0 }, { type: 'content', at: 0, content: calm }, { type: 'visible', at: 0 },
]
const at = (ms: number, ...events: ArmingEvent[]): ArmingState =>
  [...base, ...events, { type: 'tick', at: ms } as const].reduce<ArmingState>(nextArming, initialArming(0))
const mouse: ClickLike = { button: 0, detail: 1, pointerType: 'mouse' }
const primary = { button: 0, isPrimary: true }
const armed = at(1000)
/** The state at the click: its own press is input. */
const after = at(1100, { type: 'input', at: 1000 })

describe('by pointer', () => {
  const down = pressDown('allow', 'allow', primary, armed)
  it('counts on the armed button', () => { expect(pressClick(down, 'allow', 'allow', mouse, after, 1100).counts).toBe(true) })
  it('counts where clicks are plain mouse events', () => {
    expect(pressClick(down, 'allow', 'allow', { button: 0, detail: 1 }, after, 1100).counts).toBe(true)
  })
  it('does not count when the press was before arming, however long it was held', () => {
    const early = pressDown('allow', 'allow', primary, at(600))
    expect(pressClick(early, 'allow', 'allow', mouse, at(5000), 5000).counts).toBe(false)
  })
  it('does not count when the press was on another button', () => {
    expect(pressClick(pressDown('deny', 'deny', primary, armed), 'allow', 'allow', mouse, after, 1100).counts).toBe(false)
  })
  it('does not count when the press was beside the buttons', () => {
    expect(pressClick(pressDown('', null, primary, armed), 'allow', 'allow', mouse, after, 1100).counts).toBe(false)
  })
  it('does not count without any press', () => { expect(pressClick(noPress, 'allow', 'allow', mouse, armed, 1100).counts).toBe(false) })
  it('does not count twice', () => {
    const first = pressClick(down, 'allow', 'allow', mouse, after, 1100)
    expect(pressClick(first.press, 'allow', 'allow', mouse, after, 1101).counts).toBe(false)
  })
  it('does not count as the second click of a double click', () => {
    expect(pressClick(down, 'allow', 'allow', { ...mouse, detail: 2 }, after, 1100).counts).toBe(false)
  })
  it.each([['the right button', { button: 2, isPrimary: true }], ['a second finger', { button: 0, isPrimary: false }]])('does not count by %s', (_name, event) => {
    expect(pressClick(pressDown('allow', 'allow', event, armed), 'allow', 'allow', mouse, after, 1100).counts).toBe(false)
  })
  it('does not count when the engine took the press away', () => {
    expect(pressClick(pressCancel(down), 'allow', 'allow', mouse, after, 1100).counts).toBe(false)
  })
  it('does not count after the answer was sent', () => {
    expect(pressClick(down, 'allow', 'allow', mouse, at(1100, { type: 'decided', at: 1000 }), 1100).counts).toBe(false)
  })
  const changes: [string, ArmingEvent[]][] = [
    ['the focus went and came', [{ type: 'blur', at: 1010 }, { type: 'focus', at: 1020 }]],
    ['the content changed', [{ type: 'content', at: 1010, content: { ...calm, key: 'other' } }]],
    ['a file went stale', [{ type: 'content', at: 1010, content: { ...calm, stale: true } }]],
    ['the card went out of sight', [{ type: 'hidden', at: 1010 }]],
  ]
  it.each(changes)('does not count when meanwhile %s', (_name, events) => {
    expect(pressClick(down, 'allow', 'allow', mouse, at(1100, ...events), 1100).counts).toBe(false)
  })
  // The first click into a window that has not the focus: engines tell the press before the focus, or after it.
  it('does not count when it gave the window the focus, told before', () => {
    const unfocused = at(5000, { type: 'blur', at: 10 })
    const press = pressDown('allow', 'allow', primary, unfocused)
    expect(pressClick(press, 'allow', 'allow', mouse, nextArming(unfocused, { type: 'focus', at: 5001 }), 5100).counts).toBe(false)
  })
  it('does not count when it gave the window the focus, told after', () => {
    const focused = at(5001, { type: 'blur', at: 10 }, { type: 'focus', at: 5000 })
    expect(pressClick(pressDown('deny', 'deny', primary, focused), 'deny', 'deny', mouse, focused, 5100).counts).toBe(false)
  })
})

describe('without a pointer', () => {
  const virtual: ClickLike = { button: 0, detail: 0, pointerType: '' }
  it('counts on an armed button: assistive technology', () => {
    expect(pressClick(noPress, 'allow', 'allow', virtual, armed, 1000).counts).toBe(true)
    expect(pressClick(noPress, 'deny', 'deny', virtual, at(300), 300).counts).toBe(true)
  })
  it('counts where the engine gives it a count', () => { expect(pressClick(noPress, 'allow', 'allow', { button: 0, detail: 1 }, armed, 1000).counts).toBe(true) })
  it('does not count before arming', () => { expect(pressClick(noPress, 'allow', 'allow', virtual, at(600), 600).counts).toBe(false) })
  it.each([['Enter', 'Enter'], [' ', 'Space'], ['Enter', 'NumpadEnter']])('does not count by the key %j (%s)', (key, code) => {
    const press = pressKey(noPress, { key, code }, 1000)
    expect(pressClick(press, 'deny', 'deny', virtual, armed, 1000).counts).toBe(false)
    expect(pressClick(press, 'deny', 'deny', virtual, at(1000 + keyClickTime), 1000 + keyClickTime).counts).toBe(false)
    expect(pressClick(press, 'deny', 'deny', virtual, at(1001 + keyClickTime), 1001 + keyClickTime).counts).toBe(true)
  })
  it('counts after another key', () => {
    expect(pressClick(pressKey(noPress, { key: 'Tab', code: 'Tab' }, 990), 'deny', 'deny', virtual, armed, 1000).counts).toBe(true)
  })
  it('does not count while a pointer is down, but after a press that ended without a click', () => {
    const down = pressDown('', null, primary, armed)
    expect(pressClick(down, 'allow', 'allow', virtual, armed, 1000).counts).toBe(false)
    const up = pressUp(down, 1000)
    expect(pressClick(up, 'allow', 'allow', virtual, at(1001 + pointerClickTime), 1001 + pointerClickTime).counts).toBe(true)
  })
})
