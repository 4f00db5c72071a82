// How cards end that nobody answers here, and how a session or the whole desk stands still.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allow, ask, button, choose, denied, deny, looksRight, missing, ready, until, World } from './harness'

const why = missing()
describe.skipIf(why !== '')(`the ends of a card${why && `: ${why}`}`, () => {
  const world = new World()
  let page: Page
  beforeAll(async () => {
    await world.start()
    page = await world.page()
  })
  afterAll(() => world.stop())

  /** Nothing of an ended card answers any more. */
  const over = async (): Promise<void> => {
    await page.getByText('Nothing is left to decide here.').waitFor()
    expect(await page.locator('.foot button').count()).toBe(0)
    await page.keyboard.press('Control+Enter')
    await page.keyboard.press('Control+Backspace')
  }

  it('expired is its own outcome, and never called a denial by anybody', async () => {
    const card = await ask(world, page, 'expires', 'touch expires.txt', { expires_in_seconds: 20 })
    await card.getByText(/^Expires in \d+ seconds$/).waitFor()
    await looksRight(page)
    await card.getByText('Nobody answered in time. The call was not run.').waitFor({ timeout: 40_000 })
    expect((await world.told('expires', 'decided')).outcome).toBe('expired')
    expect(await card.textContent()).not.toMatch(/denied/i)
    await over()
    await looksRight(page)
  })

  it('no more time is offered where the agent itself waits no longer', async () => {
    const card = await ask(world, page, 'fixed', 'touch fixed.txt', { expires_in_seconds: 40 })
    await card.getByText('The agent itself waits no longer, so there is no more time to give.').waitFor()
    expect(await button(page, 'More time').count()).toBe(0)
    await looksRight(page)
    await denied(world, page, 'fixed')
  })

  it('withdrawn by the agent', async () => {
    const { call } = await world.propose('gone', 'bash', { command: 'touch gone.txt' })
    const card = await choose(page, 'touch gone.txt')
    world.send({ id: 'cancel', cancel: call })
    await card.getByText('Withdrawn', { exact: true }).waitFor()
    await over()
    await looksRight(page)
  })

  it('answered in another tab: the first says so in its place', async () => {
    const card = await ask(world, page, 'elsewhere', 'touch elsewhere.txt')
    const other = await world.page()
    await choose(other, 'touch elsewhere.txt')
    await (await ready(deny(other))).click()
    await card.getByText('Denied', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'You denied Claude Code a command in payments-api' }).waitFor()
    await card.getByText('Answered by you, not on this page.').waitFor()
    await other.getByText('Answered by you, on this page.').waitFor()
    await over()
    expect(world.heard.filter((e) => e.id === 'elsewhere' && e.event === 'decided')).toHaveLength(1)
    await looksRight(page)
    await other.context().close()
  })

  it('two tabs answer at once: one answer counts', async () => {
    await ask(world, page, 'both', 'touch both.txt')
    const other = await world.page()
    await choose(other, 'touch both.txt')
    await Promise.all([ready(allow(page)), ready(deny(other))])
    // Whoever comes second may find the button gone already.
    await Promise.all([allow(page).click(), deny(other).click({ timeout: 1500 }).catch(() => undefined)])
    await world.told('both', 'decided')
    for (const one of [page, other]) await one.getByText('Nothing is left to decide here.').waitFor()
    expect(world.heard.filter((e) => e.id === 'both' && e.event === 'decided')).toHaveLength(1)
    await other.context().close()
  })

  it('a session that is paused: new calls are refused, the card stays, and it can go on', async () => {
    await ask(world, page, 'kept', 'touch kept.txt')
    await page.locator('details.menu summary').click()
    await looksRight(page)
    await button(page, 'Pause the session').click()
    await page.locator('details.menu summary').click()
    await button(page, 'Resume the session').waitFor()
    world.send({ id: 'refused', tool: 'bash', args: { command: 'touch refused.txt' } })
    await until('the call is refused', () => world.heard.some((e) => e.id === 'refused'))
    expect(world.heard.find((e) => e.id === 'refused')?.state).not.toBe('waiting')
    await page.keyboard.press('Escape')
    await looksRight(page)
    await page.getByRole('navigation').getByRole('button', { name: 'Sessions' }).click()
    await page.locator('.page :is(button, [role="option"], li)').filter({ hasText: /Claude|payments-api/ }).first().click()
    await page.getByText('Paused: everything from it is refused').waitFor()
    await looksRight(page)
    await page.getByRole('article').getByRole('button', { name: 'Resume', exact: true }).click()
    await page.getByRole('article').getByRole('button', { name: 'Pause', exact: true }).waitFor()
    await page.getByRole('navigation').getByRole('button', { name: 'Inbox' }).click()
  })

  it('the desk that is paused says so on every page, and resumes', async () => {
    await page.getByRole('navigation').getByRole('button', { name: 'Settings' }).click()
    await button(page, 'Until resumed').click()
    const banner = page.getByText('The desk is paused. New calls are refused until you resume.').first()
    await banner.waitFor()
    await looksRight(page)
    world.send({ id: 'paused', tool: 'bash', args: { command: 'touch paused.txt' } })
    await until('the call is refused', () => world.heard.some((e) => e.id === 'paused'))
    expect(world.heard.find((e) => e.id === 'paused')?.state).not.toBe('waiting')
    await page.locator('.banner').getByRole('button', { name: 'Resume' }).click()
    await banner.waitFor({ state: 'hidden' })
    await page.getByRole('navigation').getByRole('button', { name: 'Inbox' }).click()
    await ask(world, page, 'resumed', 'touch resumed.txt')
    await denied(world, page, 'resumed')
  })

  it('all that wait from a session are denied at once', async () => {
    await world.propose('all1', 'bash', { command: 'touch all1.txt' })
    await ask(world, page, 'all2', 'touch all2.txt')
    await page.locator('details.menu summary').click()
    // Not at once: see SessionMenu.
    await page.waitForTimeout(900)
    await button(page, /^Deny all that wait from it/).click()
    for (const id of ['all1', 'all2']) expect((await world.told(id, 'decided')).outcome).toBe('refused')
  })

  it('asked nothing of anybody but the core, and broke no policy', () => expect(world.strays).toEqual([]))
})

describe.skipIf(why !== '')(`more time${why && `: ${why}`}`, () => {
  const world = new World()
  beforeAll(() => world.start(true, '[approval]\nexpiry_seconds = 20\n'))
  afterAll(() => world.stop())

  it('is given while the last minute counts down, and the card can be answered after its first time was over', async () => {
    const page = await world.page()
    const card = await ask(world, page, 'extend', 'touch extend.txt')
    await card.getByText(/^Expires in \d+ seconds$/).waitFor()
    await looksRight(page)
    await button(page, 'More time').click()
    await page.getByRole('timer').waitFor({ state: 'hidden' })
    await page.waitForTimeout(21_000)
    expect(world.waits('extend')).toBe(true)
    await (await ready(allow(page))).click()
    expect((await world.told('extend', 'ended')).exit).toBe(0)
    expect(world.strays).toEqual([])
  })
})
