// What must never decide: typing, clicks that began too early, composition, repeated keys, focus.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { armed, button, choose, missing, until, World } from './harness'

const why = missing()
describe.skipIf(why !== '')(`never decides${why && `: ${why}`}`, () => {
  const world = new World()
  let page: Page
  let n = 0
  let id = ''
  beforeAll(async () => {
    await world.start()
    page = await world.page()
  })
  afterAll(() => world.stop())
  beforeEach(() => { id = `n${++n}` })

  const ask = (): Promise<unknown> => world.propose(id, 'bash', { command: `touch ${id}.txt` })
  const still = async (): Promise<void> => {
    await page.waitForTimeout(700)
    expect(world.waits(id)).toBe(true)
  }

  it('typing while a card appears', async () => {
    const asked = ask()
    for (const key of ['y', 'a', '1', 'Enter', 'Space', '2', 'y', 'Enter', 'o', 'k', 'Enter', 'Space']) await page.keyboard.press(key, { delay: 15 })
    await asked
    await page.keyboard.type('yes allow 1 ok\n', { delay: 20 })
    await still()
  })

  it('Enter and Space on a button that has the focus', async () => {
    await ask()
    await choose(page, `${id}.txt`)
    await armed(page, /^Allow once/)
    await button(page, /^Allow once/).first().focus()
    await page.waitForTimeout(800)
    for (const key of ['Enter', 'Space', 'Enter']) await page.keyboard.press(key)
    await still()
    await button(page, /^Deny/).first().focus()
    await page.waitForTimeout(800)
    for (const key of ['Enter', 'Space']) await page.keyboard.press(key)
    await still()
  })

  it('a click that began before the buttons were ready, and a double click', async () => {
    await ask()
    await choose(page, `${id}.txt`)
    const box = (await button(page, /^Allow once/).first().boundingBox())!
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    await page.mouse.down()
    await page.waitForTimeout(2000)
    await page.mouse.up()
    await still()
    // A double click where the button will be: the card has just come under the pointer.
    const row = page.getByRole('option').filter({ hasText: `${id}.txt` }).first()
    await page.keyboard.press('Escape')
    await row.click()
    for (let i = 0; i < 3; i++) await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2, { delay: 5 })
    await still()
  })

  it('the click that brings the window the focus', async () => {
    await ask()
    await choose(page, `${id}.txt`)
    await armed(page, /^Allow once/)
    await page.evaluate(() => { window.dispatchEvent(new Event('blur')) })
    const box = (await button(page, /^Allow once/).first().boundingBox())!
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    await page.mouse.down()
    await page.evaluate(() => { window.dispatchEvent(new Event('focus')) })
    await page.mouse.up()
    await still()
  })

  it('composition, and a key that repeats', async () => {
    await ask()
    await choose(page, `${id}.txt`)
    await armed(page, /^Allow once/)
    await page.evaluate(() => {
      for (const [key, code, more] of [['Enter', 'Enter', { isComposing: true }], ['Process', 'Enter', { keyCode: 229 }], ['Enter', 'Enter', { repeat: true }]] as const) {
        const event = new KeyboardEvent('keydown', { key, code, ctrlKey: true, bubbles: true, cancelable: true, ...more })
        if ('keyCode' in more) Object.defineProperty(event, 'keyCode', { value: 229 })
        document.activeElement!.dispatchEvent(event)
      }
    })
    await still()
  })

  it('a card that changes under the hand', async () => {
    await ask()
    await choose(page, `${id}.txt`)
    await armed(page, /^Allow once/)
    const first = id
    id = `n${++n}`
    await ask()
    await page.keyboard.press('j')
    await page.keyboard.press('Control+Enter')
    await page.keyboard.press('Control+Enter')
    await still()
    expect(world.waits(first)).toBe(true)
  })

  it('while the chord of an armed card does', async () => {
    await ask()
    await choose(page, `${id}.txt`)
    await armed(page, /^Allow once/)
    await page.waitForTimeout(600)
    await page.keyboard.press('Control+Enter')
    expect((await world.told(id, 'ended')).exit).toBe(0)
    id = `n${++n}`
    await ask()
    await choose(page, `${id}.txt`)
    await armed(page, /^Deny/)
    await page.waitForTimeout(600)
    await page.keyboard.press('Control+Backspace')
    await until('it is denied', () => !world.waits(id))
    expect((await world.told(id, 'decided')).outcome).toBe('refused')
  })
})
