// What must never decide: typing, clicks that began too early, composition, repeated keys, focus. After each the core is
// asked, past the page, whether the question is still open.
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { allow, ask, choose, deny, isReady, middle, missing, ready, World } from './harness'

const why = missing()
describe.skipIf(why !== '')(`never decides${why && `: ${why}`}`, () => {
  const world = new World()
  let page: Page
  let n = 0
  let id = ''
  beforeAll(() => world.start())
  afterAll(() => world.stop())
  beforeEach(async () => {
    id = `n${++n}`
    page = await world.page()
  })
  afterEach(() => page.context().close())

  const command = (): string => `touch ${id}-of-these.txt`
  const open = (): Promise<unknown> => ask(world, page, id, command())
  /** A risky one: the agent would run it itself. */
  const openRisky = async (): Promise<void> => {
    await world.propose(id, 'write', { path: `${id}-of-these.txt`, content: 'x\n' }, { itself: true })
    await choose(page, `${id}-of-these.txt`)
  }
  const still = async (): Promise<void> => {
    await page.waitForTimeout(500)
    expect(world.waits(id)).toBe(true)
  }
  /** Acts again and again. False: this machine was so slow that the pauses in between count as a person's, who reads. */
  const hasty = async (times: number, act: () => Promise<unknown>): Promise<boolean> => {
    let slowest = 0
    for (let i = 0, last = Date.now(); i < times; i++) {
      await act()
      slowest = Math.max(slowest, Date.now() - last)
      last = Date.now()
      await page.waitForTimeout(100)
    }
    return slowest < 400
  }
  const tooSlow = 'this machine is too busy to click or type without pauses'
  const bursts: [string, string[]][] = [
    ['letters', [...'yes please go on and allow it all now dear desk']],
    ['y and n', [...'ynynyYNYNy']],
    ['digits', [...'1234512345111222']],
    ['Enter', Array<string>(12).fill('Enter')],
    ['Space', Array<string>(12).fill('Space')],
    ['all of them', ['y', 'Enter', '1', 'Enter', 'Space', 'a', 'Enter', '2', 'Tab', 'Enter', 'Tab', 'Space', 'Tab', 'Enter', 'Tab', 'Enter', 'Shift+Enter', 'Alt+Enter', 'Alt+a', 'Backspace', 'Delete']],
  ]
  const press = async (keys: readonly string[], pause: number): Promise<void> => {
    for (const key of keys) {
      await page.keyboard.press(key === ' ' ? 'Space' : key)
      await page.waitForTimeout(pause)
    }
  }

  it.each(bursts)('%s typed while a card appears, and at it', async (_, keys) => {
    const other = `${id}-before`
    await ask(world, page, other, `touch ${other}.txt`)
    const typing = press(keys, 25)
    const asked = world.propose(id, 'bash', { command: command() })
    await typing
    await asked
    await page.keyboard.press('Escape')
    expect(world.waits(other)).toBe(true)
    await choose(page, command())
    await press(keys, 25)
    // Slowly, so that every button is ready in between.
    if (keys.length < 30) await press(keys.slice(0, 6), 750)
    await still()
    expect(world.waits(other)).toBe(true)
  })

  it.each(['Enter', 'Space', 'y', '1'])('%s on a button that has the focus and is ready', async (key) => {
    await open()
    for (const one of [allow(page), deny(page)]) {
      await ready(one)
      await one.focus()
      for (let i = 0; i < 3; i++) {
        await page.waitForTimeout(800)
        await page.keyboard.press(key)
      }
      await page.keyboard.down(key)
      await page.waitForTimeout(800)
      await page.keyboard.up(key)
      await still()
    }
  })

  it('a double click where the button will be, while the card opens', async ({ skip }) => {
    await open()
    const [x, y] = await middle(allow(page))
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    id = `n${++n}`
    await world.propose(id, 'bash', { command: command() })
    const row = page.getByRole('option').filter({ hasText: command() })
    await row.dblclick()
    const doubled = await hasty(2, () => page.mouse.dblclick(x, y))
    // Whoever goes on clicking without a pause is not reading.
    const quick = await hasty(20, () => page.mouse.click(x, y)) && doubled
    if (!quick && !world.waits(id)) skip(tooSlow)
    await still()
  })

  it('a click that began before the button was ready', async () => {
    await open()
    await page.mouse.move(...await middle(allow(page)))
    // On a busy machine the button may be ready before the press: the wait begins again with the window's focus.
    for (let tries = 0; tries < 20 && await isReady(allow(page)); tries++) {
      await page.evaluate(() => { window.dispatchEvent(new Event('blur')); window.dispatchEvent(new Event('focus')) })
    }
    await page.mouse.down()
    await page.waitForTimeout(2500)
    await page.mouse.up()
    await still()
  })

  it('a click that began elsewhere', async () => {
    await open()
    await ready(allow(page))
    await page.mouse.move(...await middle(page.locator('#card-title')))
    await page.mouse.down()
    await page.mouse.move(...await middle(allow(page)), { steps: 4 })
    await page.mouse.up()
    await still()
  })

  it.each(['Allow', 'Deny'])('the click on %s that brings the window the focus', async (which) => {
    await open()
    const one = which === 'Allow' ? allow(page) : deny(page)
    await ready(one)
    await page.evaluate(() => { window.dispatchEvent(new Event('blur')) })
    await page.waitForTimeout(1500)
    expect(await isReady(one)).toBe(false)
    await page.mouse.move(...await middle(one))
    // In either order, as windowing systems differ.
    await page.evaluate(() => { window.addEventListener('pointerdown', () => setTimeout(() => window.dispatchEvent(new Event('focus'))), { once: true, capture: true }) })
    await page.mouse.down()
    await page.mouse.up()
    await still()
    await page.evaluate(() => { window.dispatchEvent(new Event('blur')) })
    await page.evaluate(() => { window.dispatchEvent(new Event('focus')) })
    await page.mouse.down()
    await page.mouse.up()
    await still()
  })

  it('the chord in a window that has not the focus', async () => {
    await open()
    await ready(allow(page))
    await page.evaluate(() => { window.dispatchEvent(new Event('blur')) })
    await page.waitForTimeout(1000)
    await page.keyboard.press('Control+Enter')
    await page.keyboard.press('Control+Backspace')
    await still()
  })

  it('a composition of an input method, on the card and in the note', async () => {
    await open()
    await ready(allow(page))
    await page.waitForTimeout(600)
    await page.evaluate(() => {
      const at = document.activeElement ?? document.body
      at.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true, data: 'ni' }))
      for (const key of ['Enter', 'Backspace']) {
        for (const more of [{ isComposing: true }, { keyCode: 229 }, { key: 'Process' }, { repeat: true }]) {
          at.dispatchEvent(new KeyboardEvent('keydown', { key, code: key, ctrlKey: true, bubbles: true, cancelable: true, ...more }))
        }
      }
    })
    await still()
    await page.locator('.bar button').nth(1).click()
    await page.getByRole('textbox').fill('please ')
    const ime = await page.context().newCDPSession(page)
    await ime.send('Input.imeSetComposition', { text: '你好', selectionStart: 2, selectionEnd: 2 })
    await page.waitForTimeout(900)
    for (const key of ['Enter', 'Backspace']) {
      for (const type of ['rawKeyDown', 'keyUp'] as const) {
        await ime.send('Input.dispatchKeyEvent', { type, key: 'Process', code: key, windowsVirtualKeyCode: 229, nativeVirtualKeyCode: 229, modifiers: 2 })
      }
    }
    await still()
    await ime.send('Input.insertText', { text: '你好' })
    expect(await page.getByRole('textbox').inputValue()).toBe('please 你好')
    await still()
  })

  it.each([['Enter', false], ['Backspace', false], ['Enter', true]])('Ctrl+%s held down from before the card was ready (risky: %s)', async (key, risky) => {
    // Held from before the card was there: only repeats come to it, and they go on past every wait.
    await page.keyboard.down('Control')
    await page.keyboard.down(key)
    await (risky ? openRisky() : open())
    for (let i = 0; i < 60; i++) {
      await page.keyboard.down(key)
      await page.waitForTimeout(40)
    }
    await page.keyboard.up(key)
    await page.keyboard.up('Control')
    await still()
  })

  it('the chord held down: a risky card shows its second step, and no more', async () => {
    await openRisky()
    await ready(allow(page))
    await page.keyboard.down('Control')
    for (let i = 0; i < 60; i++) {
      await page.keyboard.down('Enter')
      await page.waitForTimeout(40)
    }
    await page.keyboard.up('Enter')
    await page.keyboard.up('Control')
    expect(await page.locator('.panel.care').count()).toBe(1)
    await still()
  })

  it('the chord hammered from before the card was ready', async ({ skip }) => {
    await open()
    const quick = await hasty(25, () => page.keyboard.press('Control+Enter'))
    if (!quick && !world.waits(id)) skip(tooSlow)
    await still()
  })

  it('a card that changes under the hand', async () => {
    await open()
    await ready(allow(page))
    const first = id
    id = `n${++n}`
    await world.propose(id, 'bash', { command: command() })
    await page.waitForTimeout(600)
    await page.keyboard.press('j')
    await page.keyboard.press('Control+Enter')
    await page.locator('[role="option"][aria-selected="true"]').filter({ hasText: command() }).waitFor()
    await still()
    expect(world.waits(first)).toBe(true)
  })

  it('leaving the card, the page and the tab', async () => {
    await open()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 790)
    await page.keyboard.press('Control+5')
    await page.reload()
    await page.getByRole('navigation').first().waitFor()
    await page.goto('about:blank')
    await still()
    world.strays.length = 0
  })

  it('a click without pointer and key, in a window that has not the focus', async () => {
    await open()
    await ready(allow(page))
    await page.evaluate(() => { window.dispatchEvent(new Event('blur')) })
    for (const one of [allow(page), deny(page)]) await one.evaluate((e: HTMLElement) => e.click())
    await still()
  })
})
