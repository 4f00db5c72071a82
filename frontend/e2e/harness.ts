// A real core with its pages in a real browser, and a scripted agent that asks it. Everything is started for one file of
// tests and ended with it.
import { spawn, type ChildProcess } from 'node:child_process'
import { accessSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'

const chrome = '/usr/bin/chromium'
const bin = resolve(import.meta.dirname, '../../bin')
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
const patience = 30_000

/** Why nothing can be tried here, "" when it can. */
export function missing(): string {
  for (const file of [chrome, join(bin, 'countersign'), join(bin, 'countersign-init'), join(bin, 'test/claude')]) {
    try { accessSync(file) } catch { return `${file} is not here: run make test-browser` }
  }
  return ''
}

export interface Event { id: string; event: string; call?: string; question?: string; state?: string; outcome?: string; comment?: string; output?: string; exit?: number; code?: string }

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + patience
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

  /** Starts core, agent and browser. */
  async start(owner = true): Promise<void> {
    this.#owner = owner
    mkdirSync(join(this.home, 'config'), { recursive: true, mode: 0o700 })
    mkdirSync(this.project)
    writeFileSync(join(this.project, 'README.md'), '# Payments\n')
    writeFileSync(join(this.home, 'config/config.toml'), '[identity]\nstore = "file"\n', { mode: 0o600 })
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
    const core = spawn(join(bin, 'countersign'), ['serve', '--http', '127.0.0.1:0', ...(this.#owner ? ['--owner'] : [])], { env: this.#env(), stdio: ['ignore', 'ignore', 'pipe'] })
    core.stderr!.on('data', (data: Buffer) => { this.#said += data.toString() })
    this.#core = core
    await until('the core shows its link', () => /http:\/\/\S+/.test(this.#said))
  }

  killCore(): void { this.#core?.kill('SIGKILL') }

  /** The newest link that was shown. */
  link(): string { return [...this.#said.matchAll(/http:\/\/\S+/g)].at(-1)![0] }

  /** A browser of its own, connected. */
  async page(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context: BrowserContext = await this.#browser!.newContext({ viewport: { width: 1240, height: 800 }, ...options })
    const page = await context.newPage()
    page.on('console', (message) => { if (/Content Security Policy|Refused to/.test(message.text())) this.strays.push(message.text()) })
    page.on('pageerror', (error) => this.strays.push(String(error)))
    const link = this.link()
    const origin = new URL(link).origin
    page.on('request', (request) => { if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) this.strays.push(request.url()) })
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

  /** Whether a call still waits, as the core says. */
  waits(id: string): boolean { return !this.heard.some((e) => e.id === id && e.event !== 'admitted') }

  async stop(): Promise<void> {
    await this.#browser?.close()
    this.#agent?.kill('SIGKILL')
    this.#core?.kill('SIGKILL')
    rmSync(this.base, { recursive: true, force: true })
  }
}

const axe = readFileSync(resolve(import.meta.dirname, '../node_modules/axe-core/axe.min.js'), 'utf8')

/** What axe-core finds on a page. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const run = (globalThis as unknown as { axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }).axe
    return (await run.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' | ')}`)
  })
}

/** Opens the card of a row. */
export async function choose(page: Page, text: string): Promise<void> {
  await page.getByRole('option').filter({ hasText: text }).first().click()
  await page.getByRole('article').waitFor()
}

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

/** Waits until a button is ready, without touching anything. */
export async function armed(page: Page, name: string | RegExp): Promise<void> {
  await until(`${name} is ready`, async () => (await button(page, name).first().getAttribute('aria-disabled')) === 'false')
}
