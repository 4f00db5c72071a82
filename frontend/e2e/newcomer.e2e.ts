// What somebody new to the desk tried: keys after the mouse had answered, a note that was left half-written, a page whose core
// had not answered yet, and a card after its answer.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allow, ask, button, choose, deny, looksRight, missing, ready, until, World } from './harness'

const why = missing()
const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.id ?? '')
const lose = (page: Page): Promise<void> => page.evaluate(() => { if (document.activeElement instanceof HTMLElement) document.activeElement.blur() })

describe.skipIf(why !== '')(`a desk that nobody used yet${why && `: ${why}`}`, () => {
  const world = new World()
  beforeAll(() => world.start())
  afterAll(() => world.stop())

  it('says that it is connecting until the core has answered, and then how to connect an agent', async () => {
    const page = await world.page()
    let hold = true
    const held: (() => void)[] = []
    await page.routeWebSocket(/\/wire$/, (socket) => {
      const core = socket.connectToServer()
      core.onMessage((message) => { if (hold) held.push(() => socket.send(message)); else socket.send(message) })
      socket.onMessage((message) => core.send(message))
    })
    await page.reload()
    await page.getByRole('heading', { name: 'Connecting to the core…' }).waitFor()
    expect(await page.getByText('Nothing is waiting').count()).toBe(0)
    for (const name of ['Sessions', 'Receipts', 'Projects']) {
      await page.getByRole('navigation').getByRole('button', { name }).click()
      await page.getByRole('main', { name }).getByText('Connecting to the core…').first().waitFor()
    }
    await page.getByRole('navigation').getByRole('button', { name: 'Inbox' }).click()
    hold = false
    for (const send of held) send()
    await page.getByRole('heading', { name: 'Nothing is waiting.' }).waitFor()
    await page.getByText('countersign connect claude').waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button(page, 'Copy').click()
    await page.getByText('Copied.').first().waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('countersign connect claude')
    await looksRight(page)
    await world.propose('first', 'bash', { command: 'touch first.txt' })
    await page.getByRole('heading', { name: 'One request waits for you.' }).waitFor()
    expect(await page.getByText('countersign connect claude').count()).toBe(0)
    await page.context().close()
  })
  it('broke no policy', () => expect(world.strays).toEqual([]))
})

describe.skipIf(why !== '')(`a desk in use${why && `: ${why}`}`, () => {
  const world = new World()
  let page: Page
  beforeAll(async () => {
    await world.start()
    page = await world.page()
  })
  afterAll(() => world.stop())
  const chosen = (text: string): Promise<void> => page.locator('[role="option"][aria-selected="true"]').filter({ hasText: text }).waitFor()

  it('a fresh page, where nothing has the focus, has its keys', async () => {
    for (const id of ['k1', 'k2']) await world.propose(id, 'bash', { command: `touch ${id}.txt` })
    await page.getByRole('option').filter({ hasText: 'k2.txt' }).waitFor()
    expect(await focused(page)).toBe('')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('j')
    await chosen('k1.txt')
    await until('the list has the focus', async () => (await focused(page)) === 'inbox-list')
    await lose(page)
    await page.keyboard.press('ArrowDown')
    await chosen('k2.txt')
    await page.keyboard.press('ArrowUp')
    await chosen('k1.txt')
    await page.keyboard.press('Enter')
    expect(await focused(page)).toBe('card-title')
    expect(world.waits('k1') && world.waits('k2')).toBe(true)
  })

  it('after an answer by mouse the list has the focus, and the keys go on from there', async () => {
    await choose(page, 'k1.txt')
    await (await ready(deny(page))).click()
    await page.getByRole('heading', { name: 'You denied Claude Code a command in payments-api' }).waitFor()
    await until('the list has the focus', async () => (await focused(page)) === 'inbox-list')
    await page.keyboard.press('ArrowDown')
    await chosen('k2.txt')
    await page.keyboard.press('Enter')
    expect(await focused(page)).toBe('card-title')
    expect(world.waits('k2')).toBe(true)
  })

  it('every page has its keys and its list, whatever had the focus', async () => {
    // The list of receipts is asked for when its page opens.
    await page.getByRole('navigation').getByRole('button', { name: 'Receipts' }).click()
    await page.locator('#receipt-list button').first().waitFor()
    for (const [key, name, title] of [['2', 'Sessions', 'session-title'], ['4', 'Receipts', 'receipt-title']] as const) {
      await lose(page)
      await page.keyboard.press(`Control+${key}`)
      await page.getByRole('main', { name }).waitFor()
      await until('a row has the focus', () => page.evaluate(() => document.activeElement?.matches('button.row') === true))
      await page.keyboard.press('j')
      await page.keyboard.press('k')
      await page.keyboard.press('Enter')
      await until('what it opens has the focus', async () => (await focused(page)) === title)
      await lose(page)
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    }
    await page.keyboard.press('Control+1')
    await until('the list has the focus', async () => (await focused(page)) === 'inbox-list')
    await chosen('k2.txt')
  })

  it('a note that was begun waits with its own request, over rows and pages', async () => {
    await ask(world, page, 'n1', 'touch n1.txt')
    await page.locator('.bar button').nth(1).click()
    await page.getByRole('textbox').fill('not in the folder of')
    await choose(page, 'k2.txt')
    expect(await page.getByRole('textbox').count()).toBe(0)
    await page.keyboard.press('Control+5')
    await page.keyboard.press('Control+1')
    await choose(page, 'n1.txt')
    expect(await page.getByRole('textbox').inputValue()).toBe('not in the folder of')
    expect(await focused(page)).toBe('card-title')
    await page.getByRole('textbox').fill('not in this folder')
    await (await ready(button(page, 'Deny with this note'))).click()
    expect(await world.told('n1', 'decided')).toMatchObject({ outcome: 'refused', comment: 'not in this folder' })
    await choose(page, 'k2.txt')
    await page.locator('.bar button').nth(1).click()
    expect(await page.getByRole('textbox').inputValue()).toBe('')
    await page.keyboard.press('Escape')
  })

  it('a card that was answered says what became of the call, who answered, and leads to its receipt', async () => {
    await ask(world, page, 'ran', 'touch nowhere/ran.txt')
    await page.locator('.cmd').waitFor()
    await (await ready(allow(page))).click()
    expect((await world.told('ran', 'ended')).exit).toBe(1)
    await page.getByRole('heading', { name: 'Claude Code ran a command in payments-api' }).waitFor()
    await page.getByText('It ended with exit code 1.').waitFor()
    await page.getByText('Answered by you, on this page.').waitFor()
    await looksRight(page)
    await button(page, 'Show its receipt').click()
    await page.getByRole('main', { name: 'Receipts' }).waitFor()
    await page.getByRole('article').getByText('touch nowhere/ran.txt').waitFor()
    await until('the receipt has the focus', async () => (await focused(page)) === 'receipt-title')
    await page.keyboard.press('Control+1')
    await choose(page, 'k1.txt')
    await page.getByText('Nothing was run.').waitFor()
    await button(page, 'Show its receipt').click()
    await page.getByRole('heading', { name: 'denied by you' }).waitFor()
  })

  it('a row that is cut has its whole text, and wraps where there is room for it', async () => {
    const words = `touch ${'a-long-name-'.repeat(12)}.txt`
    await world.propose('long', 'bash', { command: words })
    await page.keyboard.press('Control+1')
    const line = page.getByRole('option').filter({ hasText: words }).locator('.line')
    expect(await line.getAttribute('title')).toBe(words)
    const narrow = await world.page({ viewport: { width: 400, height: 700 } })
    const there = narrow.getByRole('option').filter({ hasText: words }).locator('.line')
    await there.waitFor()
    expect(await there.evaluate((e) => e.scrollWidth <= e.clientWidth && e.clientHeight > 30)).toBe(true)
    await narrow.context().close()
  })
  it('broke no policy', () => expect(world.strays).toEqual([]))
})
