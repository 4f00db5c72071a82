// A real core with its pages in a real browser, and a scripted agent that asks it. Everything is started for one file of
// tests and ended with it.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { accessSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Browser, type Locator, type Page } from 'playwright-core'
import { expect } from 'vitest'

const chrome = '/usr/bin/chromium'
const bin = resolve(import.meta.dirname, '../../bin')
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
const patience = 30_000
/** A core that starts beside others, on a busy machine. */
const startPatience = 90_000

/** Why nothing can be tried here, "" when it can. */
export function missing(): string {
  for (const file of [chrome, join(bin, 'countersign'), join(bin, 'countersign-init'), join(bin, 'test/claude')]) {
    try { accessSync(file) } catch { return `${file} is not here: run make test-browser` }
  }
  return ''
}

/** A line of the scripted agent (test/agent/script.go). */
export interface Event {
  readonly id: string
  readonly event: string
  readonly call?: string
  readonly question?: string
  readonly state?: string
  readonly outcome?: string
  readonly reason?: string
  readonly comment?: string
  readonly exit?: number
  readonly code?: string
}

export async function until(what: string, holds: () => boolean | Promise<boolean>, within = patience): Promise<void> {
  const end = Date.now() + within
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((done) => setTimeout(done, 50))
  }
}

export class World {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'cs-')))
  readonly home = join(this.base, 'desk')
  readonly project = join(this.base, 'payments-api')
  readonly heard: Event[] = []
  /** Requests that left for anywhere but the core, and violations of the content security policy. */
  readonly strays: string[] = []
  #core: ChildProcess | null = null
  #agent: ChildProcess | null = null
  #browser: Browser | null = null
  #said = ''
  #owner = true
  /** Where the next core serves browsers. */
  address = '127.0.0.1:0'

  /** Starts core, agent and browser. */
  async start(owner = true, config = ''): Promise<void> {
    this.#owner = owner
    mkdirSync(join(this.home, 'config'), { recursive: true, mode: 0o700 })
    mkdirSync(this.project)
    writeFileSync(join(this.project, 'README.md'), '# Payments\n')
    writeFileSync(join(this.home, 'config/config.toml'), `[identity]\nstore = "file"\n${config}`, { mode: 0o600 })
    writeFileSync(join(this.base, 'passphrase'), 'correct horse battery\n', { mode: 0o600 })
    await this.startCore()
    this.#agent = spawn(join(bin, 'test/claude'), [], { cwd: this.project, env: this.#env(), stdio: ['pipe', 'pipe', 'inherit'] })
    createInterface({ input: this.#agent.stdout! }).on('line', (line) => this.heard.push(JSON.parse(line) as Event))
    this.#browser = await chromium.launch({ executablePath: chrome, headless: true, args: flags })
  }

  #env(): NodeJS.ProcessEnv {
    return { ...process.env, COUNTERSIGN_HOME: this.home, COUNTERSIGN_PASSPHRASE_FILE: join(this.base, 'passphrase') }
  }

  async startCore(): Promise<void> {
    this.#said = ''
    const core = spawn(join(bin, 'countersign'), ['serve', '--http', this.address, ...(this.#owner ? ['--owner'] : [])], { env: this.#env(), stdio: ['ignore', 'ignore', 'pipe'] })
    core.stderr!.on('data', (data: Buffer) => { this.#said += data.toString() })
    this.#core = core
    await until('the core shows its link', () => /http:\/\/\S+/.test(this.#said), startPatience)
  }

  killCore(): void { this.#core?.kill('SIGKILL') }

  /** The newest link that was shown. */
  link(): string { return [...this.#said.matchAll(/http:\/\/\S+/g)].at(-1)![0] }

  /** A browser of its own, connected. */
  async page(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await this.#browser!.newContext({ viewport: { width: 1240, height: 800 }, locale: 'en-US', ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(12_000)
    await page.exposeFunction('violated', (what: string) => { this.strays.push(what) })
    await page.addInitScript(() => {
      // The page's key for its socket, for prefer.
      const own = globalThis.WebSocket
      globalThis.WebSocket = class extends own {
        constructor(url: string | URL, protocols?: string | string[]) {
          super(url, protocols)
          Object.assign(globalThis, { wire: protocols })
        }
      }
      const tell = (globalThis as unknown as { violated: (what: string) => void }).violated
      document.addEventListener('securitypolicyviolation', (event) => tell(`${event.violatedDirective}: ${event.blockedURI}`))
    })
    page.on('console', (message) => { if (/Content Security Policy|Refused to/.test(message.text())) this.strays.push(message.text()) })
    page.on('pageerror', (error) => this.strays.push(String(error)))
    const link = this.link()
    const origin = new URL(link).origin
    page.on('request', (request) => { if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:')) this.strays.push(request.url()) })
    page.on('websocket', (socket) => { if (socket.url() !== `${origin.replace('http', 'ws')}/wire`) this.strays.push(socket.url()) })
    await page.goto(link)
    await until('the next link is shown', () => this.link() !== link)
    await page.getByRole('navigation').first().waitFor()
    return page
  }

  /** Sends an order to the agent and waits until the call is known. */
  async propose(id: string, tool: string, args: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<Event> {
    this.#agent!.stdin!.write(JSON.stringify({ id, tool, args, ...more }) + '\n')
    return this.told(id, 'admitted')
  }

  send(order: Record<string, unknown>): void { this.#agent!.stdin!.write(JSON.stringify(order) + '\n') }

  async told(id: string, event: string): Promise<Event> {
    const find = (): Event | undefined => this.heard.find((e) => e.id === id && (e.event === event || e.event === 'error'))
    await until(`the agent hears ${event} about ${id}`, () => find() !== undefined)
    const found = find()!
    if (found.event !== event) throw new Error(`${id}: ${JSON.stringify(found)}`)
    return found
  }

  /** Whether the question of an order is still open: the agent heard nothing of an end, and the core lists it. */
  waits(id: string): boolean {
    const asked = this.heard.find((e) => e.id === id && e.event === 'admitted')?.question
    if (asked === undefined || this.heard.some((e) => e.id === id && e.event !== 'admitted')) return false
    return execFileSync(join(bin, 'countersign'), ['pending', '--json'], { env: this.#env(), encoding: 'utf8' }).includes(asked)
  }

  /** Opens a link of the desk as another program would. */
  openLink(url: string): void { spawnSync(join(bin, 'countersign'), ['open', url], { env: this.#env(), stdio: 'ignore' }) }

  async stop(): Promise<void> {
    await this.#browser?.close()
    this.#agent?.kill('SIGKILL')
    this.#core?.kill('SIGKILL')
    rmSync(this.base, { recursive: true, force: true })
  }
}

const axe = readFileSync(resolve(import.meta.dirname, '../node_modules/axe-core/axe.min.js'), 'utf8')
interface Axe { run: () => Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> }

async function violations(page: Page): Promise<string[]> {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(axe)
  return page.evaluate(async () => {
    const { violations: found } = await (globalThis as unknown as { axe: Axe }).axe.run()
    return found.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.html.slice(0, 200)} ${n.failureSummary ?? ''}`).join(' | ')}`)
  })
}

/** What axe-core finds on a page as it stands, in light and in dark. */
export async function findings(page: Page): Promise<string[]> {
  const all: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    all.push(...(await violations(page)).map((one) => `${colorScheme} ${one}`))
  }
  return all
}

/** Sets a preference of the owner, past the settings page: what is shown follows in place. */
export async function prefer(page: Page, change: { language?: string; letters?: boolean }): Promise<void> {
  await page.evaluate((wanted) => new Promise<void>((done, failed) => {
    const now = Date.now().toString(16).padStart(12, '0')
    const id = (last: number): string => `${now.slice(0, 8)}-${now.slice(8)}-7000-8000-${String(last).padStart(12, '0')}`
    const socket = new WebSocket(`ws://${location.host}/wire`, (globalThis as unknown as { wire: string[] }).wire)
    setTimeout(() => failed(new Error('the core did not answer about preferences')), 8000)
    const first = Math.floor(Math.random() * 1e11)
    const ask = (n: number, action: string, args: object): void => socket.send(JSON.stringify({ action, command_id: id(first + n), args }))
    socket.onclose = (event) => failed(new Error(`the core closed: ${event.code} ${event.reason}`))
    socket.onopen = () => ask(0, 'get_preferences', {})
    socket.onmessage = (event: MessageEvent<string>) => {
      const reply = JSON.parse(event.data) as { command_id?: string; result?: object; error?: { code: string } }
      if (reply.error) failed(new Error(reply.error.code))
      else if (reply.command_id === id(first)) ask(1, 'set_preferences', { ...reply.result, ...wanted })
      else if (reply.command_id === id(first + 1)) { socket.close(); done() }
    }
  }), change)
}

/** A state as it stands, in both themes and both languages: axe-core finds nothing. */
export async function looksRight(page: Page): Promise<void> {
  const found = await findings(page)
  await prefer(page, { language: 'zh-CN' })
  await page.locator('html[lang="zh-CN"]').waitFor()
  found.push(...(await findings(page)).map((one) => `zh-CN ${one}`))
  await prefer(page, { language: 'system' })
  await page.locator('html[lang="en"]').waitFor()
  expect(found).toEqual([])
}

/** Opens the card of a row. */
export async function choose(page: Page, text: string): Promise<Locator> {
  await page.getByRole('option').filter({ hasText: text }).first().click()
  const card = page.getByRole('article')
  await card.getByText(text).first().waitFor({ state: 'attached' })
  return card
}

export const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name })
export const allow = (page: Page): Locator => page.locator('.bar button.go, .bar button.careful').last()
export const deny = (page: Page): Locator => page.locator('.bar button').first()

/** Whether a button of the card is ready, as everybody is told. */
export const isReady = async (one: Locator): Promise<boolean> => (await one.getAttribute('aria-disabled')) !== 'true'

/** Waits until a button is ready, without touching anything. */
export async function ready(one: Locator): Promise<Locator> {
  await until(`${String(one)} is ready`, () => isReady(one))
  return one
}

/** Reads the open card to its end: every last line of it is brought into the window. */
export async function readToEnd(page: Page): Promise<void> {
  for (const end of await page.locator('article .end').all()) {
    await end.evaluate((one) => one.scrollIntoView({ block: 'center' }))
    await page.waitForTimeout(120)
  }
}

/** The middle of a button, wherever it is. */
export async function middle(one: Locator): Promise<[number, number]> {
  const box = (await one.boundingBox())!
  return [box.x + box.width / 2, box.y + box.height / 2]
}

/** Clicks where a button is, whether it is ready or not. */
export const poke = async (page: Page, one: Locator): Promise<void> => page.mouse.click(...await middle(one))

/** Asks for something and opens its card. */
export async function ask(world: World, page: Page, id: string, command: string, more: Record<string, unknown> = {}): Promise<Locator> {
  await world.propose(id, 'bash', { command }, more)
  return choose(page, command.split('\n')[0]!.slice(0, 40))
}

/** Denies the open card and waits until the agent heard it. */
export async function denied(world: World, page: Page, id: string): Promise<void> {
  await (await ready(deny(page))).click()
  expect(await world.told(id, 'decided')).toMatchObject({ outcome: 'refused' })
}
