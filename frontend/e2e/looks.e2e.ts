// The pages in other circumstances: narrow, zoomed, dark, Chinese, a browser that may only look, another version of the core.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { button, choose, findings, missing, World } from './harness'

const why = missing()
describe.skipIf(why !== '')(`the pages${why && `: ${why}`}`, () => {
  const world = new World()
  beforeAll(async () => {
    await world.start()
    await world.propose('one', 'bash', { command: 'ls && touch one.txt' })
  })
  afterAll(() => world.stop())

  it.each([
    ['dark', { colorScheme: 'dark' as const }], ['Chinese', { locale: 'zh-CN' }], ['without motion', { reducedMotion: 'reduce' as const }],
    ['forced colours', { forcedColors: 'active' as const }], ['320 pixels', { viewport: { width: 320, height: 640 } }],
    ['at 200 %', { viewport: { width: 620, height: 400 }, deviceScaleFactor: 2 }],
  ])('%s', async (_, options) => {
    const page = await world.page(options)
    await choose(page, 'touch one.txt')
    await page.waitForTimeout(1000)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
    expect(await findings(page)).toEqual([])
    if ('locale' in options) expect(await page.locator('body').textContent()).toContain('允许一次')
    await page.context().close()
  })

  it('says that the core speaks another version', async () => {
    const page = await world.page()
    await page.routeWebSocket(/\/wire$/, (socket) => {
      const core = socket.connectToServer()
      core.onMessage((message) => socket.send(String(message).replace(/"wire":1,/, '"wire":99,')))
    })
    await page.reload()
    await page.getByText(/version/i).first().waitFor()
    expect(await findings(page)).toEqual([])
    await page.context().close()
  })
  it('breaks no policy', () => expect(world.strays).toEqual([]))
})

describe.skipIf(why !== '')(`a browser that may only look${why && `: ${why}`}`, () => {
  const world = new World()
  beforeAll(() => world.start(false))
  afterAll(() => world.stop())

  it('shows the card, answers nothing, and says so', async () => {
    await world.propose('one', 'bash', { command: 'touch one.txt' })
    const page = await world.page()
    await choose(page, 'touch one.txt')
    await page.getByText(/look/i).first().waitFor()
    await page.waitForTimeout(2500)
    for (const one of await button(page, /^(Allow|Deny)/).all()) expect(await one.getAttribute('aria-disabled')).toBe('true')
    expect(world.waits('one')).toBe(true)
    expect(await findings(page)).toEqual([])
  })
})
