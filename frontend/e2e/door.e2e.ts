// The way to the core: it goes away, comes back, speaks another version, or lets a browser only look.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allow, ask, choose, deny, findings, isReady, looksRight, missing, poke, ready, World } from './harness'

const why = missing()
const nothing: string[] = []

describe.skipIf(why !== '')(`the core goes away${why && `: ${why}`}`, () => {
  const world = new World()
  let page: Page
  let chinese: Page
  beforeAll(async () => {
    await world.start()
    page = await world.page()
    chinese = await world.page({ locale: 'zh-CN' })
  })
  afterAll(() => world.stop())

  it.each([
    ['another protocol', (text: string) => text.replace(/"wire":\d+/, '"wire":99'), 'The core runs another version'],
    ['a newer program', (text: string) => text.replace(/("version":")[^"]*"/, '$19.9.9"'), null],
  ])('speaks %s', async (_, change, told) => {
    const other = await world.page()
    let changing = told !== null
    const sockets: { close: () => Promise<void> }[] = []
    await other.routeWebSocket(/\/wire$/, (socket) => {
      const core = socket.connectToServer()
      sockets.push(socket)
      core.onMessage((message) => socket.send(changing ? change(String(message)) : message))
      socket.onMessage((message) => core.send(message))
    })
    await other.reload()
    if (told === null) {
      // The page was loaded from the older program: it notices when it comes back after a break.
      await other.getByText('Enforced on this machine').first().waitFor() // as its first status says
      changing = true
      for (const one of sockets) await one.close()
    }
    await other.getByText(/The core runs another version \((9\.9\.9|[^)]+)\) than this page/).first().waitFor()
    await other.getByRole('button', { name: 'Load again' }).waitFor()
    expect(await findings(other)).toEqual(nothing)
    await other.context().close()
  })

  it('is told plainly, the card stays, nothing is answered, and a new link is the way back', async () => {
    await ask(world, page, 'waits', 'touch waits.txt')
    await choose(chinese, 'touch waits.txt')
    await ready(allow(page))
    world.killCore()
    await page.getByText(/The connection to the core is lost/).first().waitFor()
    await page.getByText(/new link/).first().waitFor()
    await page.waitForTimeout(1500)
    expect(await isReady(allow(page))).toBe(false)
    expect(await isReady(deny(page))).toBe(false)
    await poke(page, allow(page))
    await page.keyboard.press('Control+Enter')
    await page.getByRole('article').getByText('touch waits.txt').first().waitFor()
    expect(await findings(page)).toEqual(nothing)
    await chinese.getByText('与核心的连接已断开').first().waitFor()
    expect(await findings(chinese)).toEqual(nothing)

    await world.startCore()
    await page.waitForTimeout(1500)
    await page.getByText(/The connection to the core is lost/).first().waitFor()
    const again = await world.page()
    await again.getByText('Needs you').waitFor()
    await looksRight(again)
    await again.context().close()
  })

  it('broke no policy', () => expect(world.strays).toEqual(nothing))
})

describe.skipIf(why !== '')(`a browser that may only look${why && `: ${why}`}`, () => {
  const world = new World()
  beforeAll(() => world.start(false))
  afterAll(() => world.stop())

  it.each([['en-US', 'This page may look, but not answer.', 'Looking only'], ['zh-CN', '', '']])('shows the card, answers nothing, and says so: %s', async (locale, banner, line) => {
    const id = `look-${locale}`
    await world.propose(id, 'bash', { command: `touch ${id}.txt` })
    const page = await world.page({ locale })
    await choose(page, `touch ${id}.txt`)
    if (banner !== '') {
      await page.getByText(banner).first().waitFor()
      await page.getByText(line).first().waitFor()
      // What would help is said where it is looked for: above the page, and by every button that does nothing.
      await page.getByText('countersign serve --http ADDR --owner').first().waitFor()
    }
    for (const one of await page.locator('.foot button').all()) expect(await one.getAttribute('title')).toMatch(/countersign serve --http ADDR --owner/)
    await page.waitForTimeout(2000)
    for (const one of await page.locator('.foot button').all()) expect(await isReady(one)).toBe(false)
    for (const one of await page.locator('.foot button').all()) await poke(page, one)
    for (const key of ['Control+Enter', 'Control+Backspace', 'Control+Shift+Backspace', 'Control+Shift+Enter']) await page.keyboard.press(key)
    await page.waitForTimeout(500)
    expect(await page.locator('.panel').count()).toBe(0)
    expect(world.waits(id)).toBe(true)
    expect(await findings(page)).toEqual(nothing)
    await page.context().close()
  })

  it('the pause and the preferences say why they do nothing', async () => {
    const page = await world.page()
    await page.getByText('This page may look, but not answer.').first().waitFor()
    await page.getByRole('navigation').getByRole('button', { name: 'Settings' }).click()
    for (const one of await page.getByRole('region', { name: 'Pause the desk' }).getByRole('button').all()) {
      expect([await isReady(one), await one.getAttribute('title')]).toEqual([false, expect.stringContaining('--owner')])
    }
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark')
    await page.getByRole('status').getByText('This page may only look.').waitFor()
    await page.context().close()
  })

  it('a link connects one browser, once', async () => {
    const link = world.link()
    const page = await world.page()
    const second = await world.page()
    const stranger = await second.context().browser()!.newContext()
    const answer = await (await stranger.newPage()).goto(link)
    expect(answer!.status()).toBeGreaterThanOrEqual(400)
    await stranger.close()
    await page.context().close()
    await second.context().close()
  })

  it('broke no policy', () => expect(world.strays).toEqual(nothing))
})
