// What a card shows of each kind of call, and that what was decided is what happened. Real core, real boundary.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allow, ask, button, choose, denied, isReady, looksRight, missing, poke, readToEnd, ready, World } from './harness'

const why = missing()
describe.skipIf(why !== '')(`the card${why && `: ${why}`}`, () => {
  const world = new World()
  let page: Page
  beforeAll(async () => {
    await world.start()
    page = await world.page()
  })
  afterAll(() => world.stop())

  it('nothing waits; a test request goes the whole way', async () => {
    await page.getByText('Nothing is waiting.').first().waitFor()
    await looksRight(page)
    await button(page, 'Send a test request').click()
    await page.getByRole('option').first().click()
    await page.getByRole('article').waitFor()
    await looksRight(page)
    await (await ready(allow(page))).click()
    const step = page.locator('.panel.care button').first()
    if (await step.isVisible({ timeout: 300 })) await (await ready(step)).click()
    await page.getByRole('article').getByText('Allowed once').waitFor()
  })

  it('an enforced command with its parts: one double click is one answer', async () => {
    await world.propose('parts', 'bash', { command: 'ls && touch made.txt', description: 'make a file' })
    const card = await choose(page, 'touch made.txt')
    await card.getByRole('heading', { name: 'Claude Code wants to run a command in payments-api' }).waitFor()
    const text = await card.textContent()
    for (const part of ['covered', 'only reads', 'new', 'Enforced', world.project, 'make a file', 'Verified']) expect(text).toContain(part)
    await looksRight(page)
    await (await ready(allow(page))).dblclick()
    expect((await world.told('parts', 'ended')).exit).toBe(0)
    expect(world.heard.filter((e) => e.id === 'parts' && e.event === 'decided')).toHaveLength(1)
    expect(existsSync(join(world.project, 'made.txt'))).toBe(true)
    await card.getByText('Allowed once').waitFor()
    await looksRight(page)
  })

  it('a compound with parts covered, new and opaque: high risk, so a second step', async () => {
    const card = await ask(world, page, 'opaque', 'ls && touch opaque.txt && eval "$NEXT"')
    const tags = await card.locator('.parts .tag').allTextContents()
    expect(tags).toEqual(['covered', 'new', 'cannot be analysed'])
    const first = await ready(allow(page))
    await first.click()
    await page.getByRole('heading', { name: 'Look once more' }).waitFor()
    expect(world.waits('opaque')).toBe(true)
    await looksRight(page)
    // The first button does nothing more, and the second waits before it counts.
    await poke(page, first)
    await page.waitForTimeout(900)
    expect(world.waits('opaque')).toBe(true)
    await (await ready(page.locator('.panel.care button').first())).click()
    await world.told('opaque', 'ended')
  })

  it('a destructive command marks its words', async () => {
    const card = await ask(world, page, 'risky', 'rm -rf ./build-of-today')
    expect(await card.locator('.cmd .risk').count()).toBeGreaterThan(0)
    await card.getByText('Risky words are marked.').waitFor()
    await looksRight(page)
    await denied(world, page, 'risky')
    await card.getByText('Denied', { exact: true }).waitFor()
    await looksRight(page)
  })

  it('an edit with its difference; a stale file blocks Allow until it is as it was', async () => {
    const file = join(world.project, 'fee.ts')
    writeFileSync(file, 'export const fee = 3\n')
    await world.propose('edit', 'edit', { path: 'fee.ts', old_string: 'fee = 3', new_string: 'fee = 4' })
    const card = await choose(page, 'fee.ts')
    await card.getByText('export const fee = 4').waitFor()
    await looksRight(page)
    await ready(allow(page))
    writeFileSync(file, 'export const fee = 5\n')
    await world.propose('beside', 'bash', { command: 'touch beside.txt' })
    await choose(page, 'touch beside.txt')
    await choose(page, 'fee.ts')
    await card.getByText('Changed since the proposal').waitFor()
    await page.waitForTimeout(2000)
    expect(await isReady(allow(page))).toBe(false)
    await page.getByText('A file changed: look again').first().waitFor()
    await poke(page, allow(page))
    await page.keyboard.press('Control+Enter')
    expect(world.waits('edit')).toBe(true)
    await looksRight(page)
    await button(page, 'Look again').click()
    await card.getByText('Changed since the proposal').waitFor()
    await page.waitForTimeout(2000)
    expect(await isReady(allow(page))).toBe(false)
    await denied(world, page, 'edit')
    expect(readFileSync(file, 'utf8')).toBe('export const fee = 5\n')
  })

  it('an edit that is allowed is written, and a file that changed under the open card is not', async () => {
    const file = join(world.project, 'rate.ts')
    writeFileSync(file, 'export const rate = 3\n')
    await world.propose('rate', 'edit', { path: 'rate.ts', old_string: 'rate = 3', new_string: 'rate = 4' })
    await choose(page, 'rate.ts')
    await page.getByText('export const rate = 4').waitFor()
    await (await ready(allow(page))).click()
    await world.told('rate', 'ended')
    expect(readFileSync(file, 'utf8')).toBe('export const rate = 4\n')

    await world.propose('late', 'edit', { path: 'rate.ts', old_string: 'rate = 4', new_string: 'rate = 6' })
    await page.getByRole('option').filter({ hasText: 'rate.ts' }).filter({ hasText: 'just now' }).first().click()
    await page.getByText('export const rate = 6').waitFor()
    await ready(allow(page))
    writeFileSync(file, 'export const rate = 5\n')
    await allow(page).click()
    await page.waitForTimeout(1500)
    expect(readFileSync(file, 'utf8')).toBe('export const rate = 5\n')
    if (world.waits('late')) await denied(world, page, 'late')
  })

  it('a new file', async () => {
    await world.propose('create', 'write', { path: 'invoice.md', content: '# Invoice\n\none\ntwo\n' })
    const card = await choose(page, 'invoice.md')
    await card.getByText('new file', { exact: true }).waitFor()
    await card.getByText('+4').first().waitFor()
    await looksRight(page)
    await (await ready(allow(page))).click()
    await world.told('create', 'ended')
    expect(readFileSync(join(world.project, 'invoice.md'), 'utf8')).toBe('# Invoice\n\none\ntwo\n')
  })

  it('the agent runs it itself: said in the words of boundary and button, no scopes, a second step', async () => {
    await world.propose('itself', 'write', { path: 'itself.txt', content: 'x\n' }, { itself: true })
    const card = await choose(page, 'itself.txt')
    await card.getByText('Claude Code runs this itself, unbounded').waitFor()
    expect(await card.textContent()).not.toContain('Enforced')
    expect(await button(page, /^Allow/).count()).toBe(0)
    await looksRight(page)
    await (await ready(button(page, /^Let Claude Code do it/).last())).click()
    await page.getByRole('heading', { name: 'Look once more' }).waitFor()
    await looksRight(page)
    await page.waitForTimeout(300)
    expect(world.waits('itself')).toBe(true)
    await page.keyboard.press('Escape')
    await denied(world, page, 'itself')
    expect(existsSync(join(world.project, 'itself.txt'))).toBe(false)
  })

  it('a long command: Allow waits until its end was shown', async () => {
    await ask(world, page, 'long', Array.from({ length: 60 }, (_, i) => `touch line-${i}.txt`).join('\n'))
    await page.getByText('line-59.txt').first().waitFor({ state: 'attached' })
    await page.waitForTimeout(2500)
    expect(await isReady(allow(page))).toBe(false)
    await page.getByText('Allow waits for the end of the text').first().waitFor()
    await poke(page, allow(page))
    await page.keyboard.press('Control+Enter')
    expect(world.waits('long')).toBe(true)
    await looksRight(page)
    await readToEnd(page)
    await ready(allow(page))
    await denied(world, page, 'long')
  })

  it('one line as long as a command can be: shown whole, and its tail is reached', async () => {
    await ask(world, page, 'huge', `touch huge-${'x'.repeat(40)} ${'y'.repeat(120_000)} tail-of-it`)
    await page.getByText('tail-of-it').first().waitFor({ state: 'attached' })
    expect(await page.locator('.cmd').evaluate((box) => (box.textContent ?? '').length)).toBeGreaterThan(120_000)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
    await page.waitForTimeout(2000)
    expect(await isReady(allow(page))).toBe(false)
    await looksRight(page)
    await denied(world, page, 'huge')
  })

  it('one line of a megabyte, written to a file', async () => {
    await world.propose('mega', 'write', { path: 'mega.txt', content: `head ${'y'.repeat(1_000_000)} tail\n` })
    const card = await choose(page, 'mega.txt')
    await card.getByText(/new file|Too large/).first().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
    await looksRight(page)
    await denied(world, page, 'mega')
  })

  it('hostile text is spelled out, and no element is made of it', async () => {
    const bad = "touch '<img src=x onerror=alert(1)>' \u001b[2K\u202egnp\u200b"
    await world.propose('hostile', 'bash', { command: bad, description: '<b>bold</b><script>alert(2)</script>' })
    const card = await choose(page, '<img')
    const text = (await card.textContent()) ?? ''
    for (const part of ['<img src=x onerror=alert(1)>', '<b>bold</b><script>alert(2)</script>']) expect(text).toContain(part)
    expect(await page.locator('body').evaluate((body) => /[\u001b\u202e\u200b]/.test(body.textContent ?? ''))).toBe(false)
    expect((await card.locator('.cmd .spelled').allTextContents()).join(' ')).toBe('\\e[2K\\u{202E} \\u{200B}')
    await card.getByText('Characters that would not show were spelled out').waitFor()
    expect(await page.locator('article :is(img, b b, script)').count()).toBe(0)
    await looksRight(page)
    await denied(world, page, 'hostile')
  })

  it('a note of a denial reaches the agent', async () => {
    const card = await ask(world, page, 'note', 'touch note.txt')
    await button(page, /^Deny with note/).click()
    await page.getByRole('textbox').fill('use the staging <database>')
    await looksRight(page)
    await (await ready(button(page, 'Deny with this note'))).click()
    expect(await world.told('note', 'decided')).toMatchObject({ outcome: 'refused', comment: 'use the staging <database>' })
    await card.getByText('use the staging <database>').waitFor()
    await looksRight(page)
  })

  it('a rule for this session is reviewed, kept in two steps, and the same command is not asked again', async () => {
    await ask(world, page, 'scope', 'touch scope.txt')
    await button(page, /^Allow for/).click()
    await page.getByRole('heading', { name: 'Allow more than this one call?' }).waitFor()
    const panel = page.locator('.panel')
    expect(await panel.textContent()).toContain('touch scope.txt')
    await looksRight(page)
    // The chord of "once" grants nothing here.
    await page.keyboard.press('Control+Enter')
    await page.getByRole('radio').first().check()
    await (await ready(panel.getByRole('button', { name: 'Allow, and keep the rules' }))).click()
    await page.getByRole('heading', { name: 'Look once more' }).waitFor()
    expect(world.waits('scope')).toBe(true)
    await looksRight(page)
    await (await ready(page.locator('.panel.care button').first())).click()
    await world.told('scope', 'ended')
    await page.getByRole('article').getByText('Allowed, and a rule was kept').waitFor()
    expect((await world.propose('again', 'bash', { command: 'touch scope.txt' })).state).toBe('allowed')
    expect((await world.propose('longer', 'bash', { command: 'touch scope.txt other.txt' })).state).toBe('waiting')
  })

  it('the other pages', async () => {
    for (const name of ['Sessions', 'Projects', 'Receipts', 'Settings']) {
      await page.getByRole('navigation').getByRole('button', { name }).click()
      await page.getByRole('main', { name }).waitFor()
      await looksRight(page)
    }
    await page.getByRole('navigation').getByRole('button', { name: 'Receipts' }).click()
    await button(page, 'Verify the chain').click()
    await page.getByText('The chain holds').first().waitFor()
    await looksRight(page)
  })

  it('asked nothing of anybody but the core, and broke no policy', () => expect(world.strays).toEqual([]))
})
