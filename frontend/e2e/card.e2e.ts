// Every state of the card, against the real core.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { armed, button, choose, findings, missing, until, World } from './harness'

const why = missing()
describe.skipIf(why !== '')(`the card${why && `: ${why}`}`, () => {
  const world = new World()
  let page: Page
  beforeAll(async () => {
    await world.start()
    page = await world.page()
  })
  afterAll(() => world.stop())

  it('shows nothing waiting, and a test request goes the whole way', async () => {
    await page.getByText('Nothing is waiting.').first().waitFor()
    expect(await findings(page)).toEqual([])
    await button(page, 'Send a test request').click()
    await choose(page, 'Countersign test')
    await armed(page, /^Allow once/)
    await button(page, /^Allow once/).click()
    await page.getByText(/Allowed/).first().waitFor()
    await page.screenshot({ path: process.env['COUNTERSIGN_E2E_SHOT'] ?? join(world.base, 'shot.png') })
    await page.keyboard.press('Escape')
    await page.getByRole('option').filter({ hasText: /allowed/i }).first().waitFor()
  })

  it('shows a command with its parts, and an answer reaches the agent once', async () => {
    await world.propose('parts', 'bash', { command: 'ls && touch made.txt', description: 'make a file' })
    await choose(page, 'touch made.txt')
    const card = page.getByRole('article')
    await expect.poll(() => card.textContent()).toContain('Claude Code wants to run a command in payments-api')
    const text = await card.textContent()
    for (const part of ['covered', 'new', 'Enforced', world.project, 'make a file']) expect(text).toContain(part)
    expect(await findings(page)).toEqual([])
    await armed(page, /^Allow once/)
    await button(page, /^Allow once/).dblclick()
    expect((await world.told('parts', 'ended')).exit).toBe(0)
    expect(world.heard.filter((e) => e.id === 'parts' && e.event === 'decided')).toHaveLength(1)
  })

  it('takes a note with a denial', async () => {
    await world.propose('note', 'bash', { command: 'touch note.txt' })
    await choose(page, 'touch note.txt')
    await button(page, /^Deny with note/).click()
    await page.getByRole('textbox').fill('use the staging database')
    expect(await findings(page)).toEqual([])
    await armed(page, 'Deny with this note')
    await button(page, 'Deny with this note').click()
    expect(await world.told('note', 'decided')).toMatchObject({ outcome: 'refused', comment: 'use the staging database' })
  })

  it('offers this session, and the same command is not asked again', async () => {
    await world.propose('scope', 'bash', { command: 'touch scope.txt' })
    await choose(page, 'touch scope.txt')
    await button(page, /^Allow for/).click()
    await expect.poll(() => page.locator('body').textContent()).toContain('bash(touch scope.txt)')
    expect(await findings(page)).toEqual([])
    await armed(page, /^Allow, and keep the rules/)
    await button(page, /^Allow, and keep the rules/).first().click()
    // A standing rule takes a second step.
    await page.waitForTimeout(300)
    expect(world.waits('scope')).toBe(true)
    await armed(page, /^Allow, and keep the rules/)
    await button(page, /^Allow, and keep the rules/).first().click()
    await world.told('scope', 'ended')
    expect((await world.propose('again', 'bash', { command: 'touch scope.txt' })).state).toBe('allowed')
  })

  it('shows the difference of an edit, and blocks a file that changed', async () => {
    writeFileSync(join(world.project, 'fee.ts'), 'export const fee = 3\n')
    await world.propose('edit', 'edit', { path: 'fee.ts', old_string: 'fee = 3', new_string: 'fee = 4' })
    await choose(page, 'fee.ts')
    await page.getByText('export const fee = 4').waitFor()
    expect(await findings(page)).toEqual([])
    writeFileSync(join(world.project, 'fee.ts'), 'export const fee = 5\n')
    await world.propose('other', 'bash', { command: 'touch other.txt' })
    await choose(page, 'touch other.txt')
    await choose(page, 'fee.ts')
    await button(page, 'Look again').first().waitFor()
    await page.waitForTimeout(2500)
    expect(await button(page, /^Allow once/).first().getAttribute('aria-disabled')).toBe('true')
    expect(await findings(page)).toEqual([])
    await armed(page, /^Deny/)
    await button(page, /^Deny/).first().click()
    await world.told('edit', 'decided')
  })

  it('says that the agent runs it itself, and offers no scope', async () => {
    await world.propose('itself', 'write', { path: 'self.txt', content: 'x\n' }, { itself: true })
    await choose(page, 'self.txt')
    await page.getByText(/runs this itself/i).first().waitFor()
    expect(await button(page, /^Allow for/).count()).toBe(0)
    expect(await findings(page)).toEqual([])
    // Not enforced: a second step.
    await armed(page, /Let Claude Code/)
    await button(page, /Let Claude Code/).first().click()
    await page.waitForTimeout(300)
    expect(world.waits('itself')).toBe(true)
    await armed(page, /^Deny/)
    await button(page, /^Deny/).first().click()
    await world.told('itself', 'decided')
  })

  it('shows a long command whole, and Allow waits for its end', async () => {
    const lines = Array.from({ length: 60 }, (_, i) => `touch line-${i}.txt`).join('\n')
    await world.propose('long', 'bash', { command: lines })
    await choose(page, 'line-0.txt')
    await page.getByText('line-59.txt').first().waitFor({ state: 'attached' })
    await page.waitForTimeout(3000)
    const allow = button(page, /^Allow once/).first()
    expect(await allow.getAttribute('aria-disabled')).toBe('true')
    await page.locator('.cmd').evaluate((box) => { box.scrollTop = box.scrollHeight })
    await armed(page, /^Allow once/)
    await armed(page, /^Deny/)
    await button(page, /^Deny/).first().click()
    await world.told('long', 'decided')
  })

  it('shows hostile text escaped, and makes no element of it', async () => {
    await world.propose('hostile', 'bash', { command: "touch '<img src=x onerror=alert(1)>' \u001b[2K\u202egnp\u200b", description: '<b>bold</b>' })
    await choose(page, '<img')
    const text = await page.getByRole('article').textContent()
    for (const part of ['<img src=x onerror=alert(1)>', '\\u{202E}', '\\u{200B}', '\\e[2K', '<b>bold</b>']) expect(text).toContain(part)
    expect(text).not.toMatch(/[\u001b\u202e\u200b]/)
    expect(await page.locator('article img').count()).toBe(0)
    expect(await page.locator('b', { hasText: 'bold' }).count()).toBe(0)
    expect(await findings(page)).toEqual([])
    await armed(page, /^Deny/)
    await button(page, /^Deny/).first().click()
    await world.told('hostile', 'decided')
  })

  it('tells an expired, a withdrawn and an elsewhere answered card apart, in place', async () => {
    await world.propose('expires', 'bash', { command: 'touch expires.txt' }, { expires_in_seconds: 4 })
    await choose(page, 'touch expires.txt')
    await page.getByText(/Nobody answered|expired/i).first().waitFor()
    expect((await world.told('expires', 'decided')).outcome).toBe('expired')
    expect(await findings(page)).toEqual([])

    const call = (await world.propose('gone', 'bash', { command: 'touch gone.txt' })).call
    await choose(page, 'touch gone.txt')
    world.send({ id: 'cancel', cancel: call })
    await page.getByRole('article').getByText(/withdr|cancel/i).first().waitFor()

    await world.propose('elsewhere', 'bash', { command: 'touch elsewhere.txt' })
    await choose(page, 'touch elsewhere.txt')
    const other = await world.page()
    await choose(other, 'touch elsewhere.txt')
    await armed(other, /^Deny/)
    await button(other, /^Deny/).first().click()
    await page.getByRole('article').getByText(/denied/i).first().waitFor()
    expect(await button(page, /^Allow once/).count()).toBe(0)
    await other.context().close()
  })

  it('has the other pages', async () => {
    for (const name of ['Sessions', 'Receipts', 'Settings', 'Projects']) {
      await button(page, name).click()
      await page.getByRole('heading', { name }).first().waitFor()
      expect(await findings(page)).toEqual([])
    }
    await button(page, 'Receipts').click()
    await button(page, /Verify/).first().click()
    await page.getByText(/records/i).first().waitFor()
    await button(page, /^Inbox/).click()
  })

  it('loads nothing from elsewhere and breaks no policy', () => expect(world.strays).toEqual([]))

  it('says that the core is gone, and what to do', async () => {
    world.killCore()
    await page.getByText(/core/i).filter({ hasText: /gone|lost|reconnect|not answer/i }).first().waitFor()
    expect(await findings(page)).toEqual([])
  })
})
