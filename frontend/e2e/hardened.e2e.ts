// What was found by people who tried to make the card decide, or to make it show less than there is. Each case once failed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { allow, ask, button, choose, deny, isReady, looksRight, missing, readToEnd, ready, until, World } from './harness'

const why = missing()
describe.skipIf(why !== '')(`the hardened card${why && `: ${why}`}`, () => {
  const world = new World()
  let page: Page
  let n = 0
  let id = ''
  beforeAll(() => world.start())
  afterAll(() => world.stop())
  beforeEach(async () => {
    id = `h${++n}`
    page = await world.page()
  })
  afterEach(() => page.context().close())

  const open = (on = page): Promise<Locator> => ask(world, on, id, `touch ${id}-of-these.txt`)
  /** A tool that Countersign knows nothing about; the agent runs it. */
  const openTool = async (args: Record<string, unknown>, on = page): Promise<Locator> => {
    await world.propose(id, `mcp__mail__${id}`, args, { itself: true })
    await choose(on, id)
    return on.getByRole('article')
  }
  const still = async (): Promise<void> => {
    await page.waitForTimeout(500)
    expect(world.waits(id)).toBe(true)
  }
  /** Allow is ready, and there was no input for a while. */
  const calm = async (): Promise<void> => {
    await ready(allow(page))
    await page.waitForTimeout(600)
  }

  describe('the chord of Allow, while a denial is written', () => {
    const write = async (): Promise<void> => {
      await open()
      await button(page, /^Deny with note/).click()
      await page.getByRole('textbox').fill('do not do this')
    }
    it.each(['the box beside it', 'the button that sends it'])('sends the note from %s', async (where) => {
      await write()
      await (where === 'the box beside it' ? page.getByRole('checkbox') : button(page, 'Deny with this note')).focus()
      await calm()
      await page.keyboard.press('Control+Enter')
      expect(await world.told(id, 'decided')).toMatchObject({ outcome: 'refused', comment: 'do not do this' })
    })
    it.each(['after a click on the hint', 'from the title', 'from Deny'])('does nothing %s', async (where) => {
      await write()
      if (where === 'after a click on the hint') await page.locator('#note-hint').click()
      else if (where === 'from the title') await page.locator('#card-title').focus()
      else await deny(page).focus()
      await calm()
      await page.keyboard.press('Control+Enter')
      await still()
    })
  })

  it.each(['Deny', 'Deny with note…', 'Deny all that wait'])('the chord of Allow does nothing on %s', async (where) => {
    await open()
    if (where === 'Deny all that wait') {
      await page.getByText('Session ▾').click()
      await button(page, /^Deny all/).focus()
    } else await (where === 'Deny' ? deny(page) : button(page, /^Deny with note/)).focus()
    await calm()
    await page.keyboard.press('Control+Enter')
    await page.keyboard.press('Control+Shift+Enter')
    expect(await page.locator('.panel').count()).toBe(0)
    await still()
  })

  it('shows arguments that say of themselves that they are left out', async () => {
    const card = await openTool({ omitted_bytes: 3, to: 'all@example.org', inner: { omitted_bytes: 4, real: 'value' }, description: { secret: 'kept' } })
    const text = await card.locator('.args').textContent()
    for (const part of ['omitted_bytes', 'all@example.org', '"real": "value"', '"secret": "kept"']) expect(text).toContain(part)
    expect(text).not.toContain('not shown')
    await looksRight(page)
  })

  it('names an argument that is too long to be shown, and asks twice', async () => {
    const card = await openTool({ to: 'all@example.org', body: 'y'.repeat(60_000) })
    await card.locator('.args').getByText('not shown: 60002 bytes').waitFor()
    await (await ready(allow(page))).click()
    await page.locator('.panel.care').getByText('An argument is too long to be shown').waitFor()
    await looksRight(page)
    await still()
  })

  it('shows what would be written where no line of it is shown, and asks twice', async () => {
    writeFileSync(join(world.project, `${id}.bin`), 'bytes \u0000')
    await world.propose(id, 'write', { path: `${id}.bin`, content: 'only words, and words' })
    const card = await choose(page, `${id}.bin`)
    await card.locator('.args pre').filter({ hasText: 'and words' }).waitFor()
    await (await ready(allow(page))).click()
    await page.locator('.panel.care').getByText('What would be written is not shown in full').waitFor()
    await still()
  })

  it('hides of an edit only what its lines show', async () => {
    writeFileSync(join(world.project, `${id}.txt`), 'one\none\n')
    await world.propose(id, 'edit', { path: `${id}.txt`, old_string: 'one', new_string: 'two', replace_all: true })
    const card = await choose(page, `${id}.txt`)
    await card.locator('.diff .add').first().waitFor()
    expect(await card.locator('.args dt').allTextContents()).toEqual(['replace_all'])
  })

  it('makes the end of a line, and of a text, visible', async () => {
    writeFileSync(join(world.project, `${id}.txt`), 'one\ntwo\n')
    await world.propose(id, 'edit', { path: `${id}.txt`, old_string: 'one\ntwo\n', new_string: 'one  \ntwo' })
    const card = await choose(page, `${id}.txt`)
    await card.locator('.diff .t.add').filter({ hasText: 'one··' }).waitFor()
    await card.locator('.diff .t.add').filter({ hasText: 'no line end' }).waitFor()
    await looksRight(page)
  })

  describe.each([[600, 480], [360, 480]])('the end counts as shown on the screen of %i × %i only', (width, height) => {
    const waits = async (): Promise<void> => {
      await page.getByText('Allow waits for the end of the text').first().waitFor()
      await page.waitForTimeout(2000)
      expect(await isReady(allow(page))).toBe(false)
      await readToEnd(page)
      await ready(allow(page))
    }
    beforeEach(() => page.setViewportSize({ width, height }))

    it('of a command that needs no box of its own', async () => {
      await ask(world, page, id, Array.from({ length: 11 }, (_, i) => `touch ${id}-${i}.txt`).join('\n'))
      await waits()
    })
    it('of a command that scrolls, also when its box was scrolled', async () => {
      await ask(world, page, id, Array.from({ length: 40 }, (_, i) => `touch ${id}-${i}.txt`).join('\n'))
      await page.locator('.cmd').evaluate((box) => { box.scrollTop = box.scrollHeight })
      await waits()
    })
    it('of the arguments of a tool', async () => {
      await openTool({ body: Array.from({ length: 300 }, (_, i) => `line ${i}`).join('\n'), to: 'z' })
      await waits()
    })
    it('of a change', async () => {
      await world.propose(id, 'write', { path: `${id}.txt`, content: Array.from({ length: 200 }, (_, i) => `line ${i}\n`).join('') })
      await choose(page, `${id}.txt`)
      await page.locator('.diff .add').first().waitFor()
      await waits()
    })
  })

  it('what fits is seen at once; what is folded away is not', async () => {
    await world.propose(id, 'write', { path: `${id}.txt`, content: 'one\n' })
    await choose(page, `${id}.txt`)
    await ready(allow(page))
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    id = `h${++n}`
    await world.propose(id, 'write', { path: `${id}.txt`, content: Array.from({ length: 200 }, (_, i) => `line ${i}\n`).join('') })
    await choose(page, `${id}.txt`)
    await page.locator('.fold > summary').click()
    await page.waitForTimeout(2500)
    expect(await isReady(allow(page))).toBe(false)
  })

  it('letters from right to left stay in the order in which they are run', async () => {
    await world.propose(id, 'bash', { command: `cat \u05d0 > \u05d1 # ${id}` })
    await choose(page, id)
    const places = await page.locator('.cmd').evaluate((box) => {
      const found: number[] = []
      const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT)
      for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
        for (let i = 0; i < (node.textContent ?? '').length; i++) {
          const range = document.createRange()
          range.setStart(node, i)
          range.setEnd(node, i + 1)
          found.push(range.getBoundingClientRect().left)
        }
      }
      return found
    })
    expect(places).toEqual([...places].sort((a, b) => a - b))
  })

  it('the names of arguments stand in no place of a fact', async () => {
    const card = await openTool({ Network: 'Nothing', Enforced: 'in the sandbox', 'The agent may only read': '' })
    await card.getByRole('heading', { name: 'Arguments' }).waitFor()
    expect(await card.locator('.args dt code').count()).toBe(3)
    const [facts, args] = [(await card.locator('.facts').boundingBox())!, (await card.locator('.args').boundingBox())!]
    expect(args.y).toBeGreaterThan(facts.y + facts.height)
    expect(await card.locator('.facts dt').allTextContents()).not.toContain('Enforced')
    expect(await card.locator('h1 code').allTextContents()).toEqual([`mcp__mail__${id}`, 'payments-api'])
    await looksRight(page)
  })

  it('a link to another card is a notice, and its button opens it', async () => {
    await open()
    const first = id
    id = `h${++n}`
    const { question } = await world.propose(id, 'bash', { command: `touch ${id}-of-these.txt` })
    const title = page.locator('.cmd')
    world.openLink(`countersign://approval/${question}`)
    const notice = page.locator('.toast').filter({ hasText: 'A link asks for another request' })
    await notice.waitFor()
    expect(await title.textContent()).toContain(`touch ${first}-of`)
    await looksRight(page)
    await notice.getByRole('button', { name: 'Open' }).click()
    await page.locator('.cmd').filter({ hasText: `touch ${id}-of` }).waitFor()
    expect(await notice.count()).toBe(0)
    expect(world.waits(first) && world.waits(id)).toBe(true)
  })

  it.each([
    ['1240 pixels wide', { viewport: { width: 1240, height: 800 } }], ['360 pixels wide', { viewport: { width: 360, height: 640 } }],
    ['320 pixels wide', { viewport: { width: 320, height: 640 } }], ['in Chinese', { viewport: { width: 360, height: 640 }, locale: 'zh-CN' }],
  ])('a standing rule takes two places to press: %s', async (_, options) => {
    await page.context().close()
    page = await world.page(options)
    await open()
    await readToEnd(page)
    await page.locator('.bar button[aria-expanded]').last().click()
    const first = await ready(page.locator('.panel button.go'))
    const [a, bar] = [(await first.boundingBox())!, (await allow(page).boundingBox())!]
    await first.click()
    await page.locator('.panel.care').waitFor()
    const b = (await (await ready(page.locator('.panel.care button').first())).boundingBox())!
    for (const one of [a, bar]) expect(one.x + one.width <= b.x || b.x + b.width <= one.x || one.y + one.height <= b.y || b.y + b.height <= one.y).toBe(true)
    await still()
  })

  it('a note that was closed goes with no answer', async () => {
    await open()
    const other = `${id}-other`
    await world.propose(other, 'bash', { command: `touch ${other}.txt` })
    const begin = async (): Promise<void> => {
      await button(page, /^Deny with note/).click()
      await page.getByRole('textbox').fill('never mind')
      await page.getByRole('checkbox').check()
      await button(page, 'Back').click()
      await page.locator('.panel').waitFor({ state: 'hidden' })
    }
    await begin()
    await (await ready(deny(page))).click()
    expect((await world.told(id, 'decided')).comment ?? '').toBe('')
    expect(world.waits(other)).toBe(true)
    id = other
    await choose(page, `touch ${other}.txt`)
    await begin()
    await (await ready(allow(page))).click()
    expect((await world.told(id, 'decided')).comment ?? '').toBe('')
  })

  it('a note that goes with an allow stands in the second step', async () => {
    await openTool({ to: 'x' })
    await button(page, /^Deny with note/).click()
    await page.getByRole('textbox').fill('only this once')
    await (await ready(allow(page))).click()
    await page.locator('.panel.care').getByText('only this once').waitFor()
    await looksRight(page)
    await (await ready(page.locator('.panel.care button').first())).click()
    expect(await world.told(id, 'decided')).toMatchObject({ comment: 'only this once' })
  })

  it('is not told as shown while the page is hidden', async () => {
    await page.context().close()
    page = await world.page()
    const sent: string[] = []
    page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))))
    await page.reload()
    await page.getByRole('navigation').first().waitFor()
    const { question = '' } = await world.propose(id, 'bash', { command: `touch ${id}-of-these.txt` })
    const turn = (state: string): Promise<void> => page.evaluate((now) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => now })
      document.dispatchEvent(new Event('visibilitychange'))
    }, state)
    const told = (): boolean => sent.some((one) => one.includes('question_shown') && one.includes(question))
    await page.getByRole('option').filter({ hasText: `touch ${id}-of` }).waitFor()
    await turn('hidden')
    await page.getByRole('option').filter({ hasText: `touch ${id}-of` }).click()
    await page.locator('.cmd').waitFor()
    await page.waitForTimeout(800)
    expect(told()).toBe(false)
    await turn('visible')
    await until('it is told', told)
  })

  it('nothing is ready under the help', async () => {
    await open()
    await calm()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await until('Allow is not ready', async () => !(await isReady(allow(page))))
    await page.waitForTimeout(2000)
    expect([await isReady(allow(page)), await isReady(deny(page))]).toEqual([false, false])
    await page.keyboard.press('Escape')
    await ready(allow(page))
  })

  it('broke no policy', () => expect(world.strays).toEqual([]))
})
