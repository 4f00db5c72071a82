// The pages in narrow, zoomed and recoloured windows: everything stays reachable, nothing scrolls sideways.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allow, button, choose, deny, findings, missing, readToEnd, ready, World } from './harness'

const why = missing()
describe.skipIf(why !== '')(`the look${why && `: ${why}`}`, () => {
  const world = new World()
  beforeAll(async () => {
    await world.start()
    await world.propose('one', 'bash', { command: `ls && touch one.txt && eval "$${'LONG_NAME_'.repeat(30)}"`, description: 'words '.repeat(60) })
    await world.propose('two', 'bash', { command: 'touch two.txt' })
    writeFileSync(join(world.project, 'wide.ts'), `export const wide = '${'w'.repeat(300)}'\n`)
    await world.propose('three', 'edit', { path: 'wide.ts', old_string: 'wide =', new_string: 'wider =' })
  })
  afterAll(() => world.stop())

  const fits = async (page: Page): Promise<void> => {
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
    // Nothing that can be pressed lies beyond the edge either.
    const beyond = await page.evaluate(() => [...document.querySelectorAll('button, summary, input, textarea')]
      .map((one) => ({ box: one.getBoundingClientRect(), name: one.textContent ?? '' }))
      .filter(({ box }) => box.width > 0 && (box.right > window.innerWidth + 1 || box.left < -1)).map(({ name }) => name))
    expect(beyond).toEqual([])
  }

  it.each([
    ['320 pixels wide', { viewport: { width: 320, height: 640 } }],
    ['320 pixels wide in Chinese', { viewport: { width: 320, height: 640 }, locale: 'zh-CN' }],
    ['at 200 %', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
    ['at 400 %', { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 }],
    ['forced colours', { forcedColors: 'active' as const }],
    ['more contrast', { contrast: 'more' as const }],
    ['without motion', { reducedMotion: 'reduce' as const }],
  ])('%s', async (_, options) => {
    const page = await world.page(options)
    await fits(page)
    for (const row of ['touch two.txt', 'wide.ts', 'touch one.txt']) {
      if (await page.locator('button.back').isVisible()) await page.locator('button.back').click()
      await choose(page, row)
      await page.waitForTimeout(400)
      await fits(page)
      for (const one of [allow(page), deny(page)]) {
        await one.scrollIntoViewIfNeeded()
        expect(await one.isVisible()).toBe(true)
      }
      expect(await findings(page)).toEqual([])
    }
    // The second step, which is the largest that stands above the bar.
    await readToEnd(page)
    await (await ready(allow(page))).click()
    await page.locator('.panel.care').waitFor()
    await fits(page)
    expect(await findings(page)).toEqual([])
    await page.keyboard.press('Escape')
    for (const n of [2, 3, 4, 5]) {
      await page.keyboard.press(`Control+${n}`)
      await page.waitForTimeout(200)
      await fits(page)
    }
    await page.context().close()
  })

  it('without motion nothing moves', async () => {
    const page = await world.page({ reducedMotion: 'reduce' })
    await choose(page, 'touch two.txt')
    await button(page, /^Deny with note/).click()
    expect(await page.evaluate(() => document.getAnimations().filter((a) => a.playState === 'running' && Number(a.effect?.getComputedTiming().duration ?? 0) > 10).length)).toBe(0)
    await page.context().close()
  })

  it('forced colours keep the edges of buttons', async () => {
    const page = await world.page({ forcedColors: 'active' })
    await choose(page, 'touch two.txt')
    for (const one of await page.locator('.bar button').all()) {
      expect(await one.evaluate((e) => { const s = getComputedStyle(e); return s.borderTopWidth !== '0px' && s.borderTopStyle !== 'none' })).toBe(true)
    }
    await page.context().close()
  })

  it('broke no policy', () => expect(world.strays).toEqual([]))
})
