// A preview that an agent started was open in the owner's browser, on the very port where browsers are served later.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missing, until, World } from './harness'

const why = missing()

/** Answers every page of the origin in its place, for as long as the browser keeps it. */
const worker = `
  addEventListener('install', () => skipWaiting())
  addEventListener('activate', (event) => event.waitUntil(clients.claim()))
  addEventListener('fetch', (event) => {
    if (event.request.mode === 'navigate' && !new URL(event.request.url).search) {
      event.respondWith(new Response('<title>preview</title>', { headers: { 'Content-Type': 'text/html' } }))
    }
  })`

const registers = `<script>navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => { document.title = 'registered' })</script>`

describe.skipIf(why !== '')(`a preview on the port${why && `: ${why}`}`, () => {
  const world = new World()
  beforeAll(() => world.start())
  afterAll(() => world.stop())

  it('does not come between the link and our pages', async () => {
    const first = await world.page()
    const context = first.context()
    const { host, port } = new URL(world.link())
    await first.close()
    world.killCore()

    const preview = createServer((request, response) => {
      response.setHeader('Content-Type', request.url === '/worker.js' ? 'text/javascript' : 'text/html')
      response.end(request.url === '/worker.js' ? worker : registers)
    })
    await until('the port is free', () => listens(preview, Number(port)))
    const visited = ['127.0.0.1', 'localhost'].map((name) => `http://${name}:${port}/`)
    for (const address of visited) {
      const page = await context.newPage()
      await page.goto(address)
      await page.waitForFunction(() => document.title === 'registered')
      await page.close()
    }
    preview.closeAllConnections()
    await new Promise((done) => preview.close(done))

    world.address = `127.0.0.1:${port}`
    await world.startCore()
    const page = await context.newPage()
    await page.goto(world.link())
    await page.getByRole('navigation').first().waitFor()
    expect([new URL(page.url()).port, await page.title()]).toEqual([port, expect.stringContaining('Countersign')])
    expect(new URL(page.url()).host).not.toBe(host)
    // The worker is there all the while, where the links led to before.
    for (const address of visited) {
      await page.goto(address)
      expect(await page.title()).toBe('preview')
    }
  })
})

function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((done) => {
    server.once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => done(true))
  })
}
