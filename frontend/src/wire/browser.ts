// The browser's way to the core: one WebSocket beside the page, with the messages of the core's own socket.
import { maxMessage, parseObject, readFrame, readReply } from './message'
import { Signal, TransportError, type Transport } from './transport'
import type { Frame, Reply, Request } from './types.gen'

/** The first pause before a new attempt to connect, and the longest, in ms. Each is up to a quarter longer, by chance. */
export const firstPause = 250
export const longestPause = 8000

/** What is used of a WebSocket. */
export interface Socket {
  send(text: string): void
  close(): void
  onopen: ((event: never) => unknown) | null
  onclose: ((event: never) => unknown) | null
  onmessage: ((event: never) => unknown) | null
}

export interface BrowserOptions {
  readonly open: () => Socket
  readonly random?: () => number
}

/** The address of the wire beside a page. */
export function wireAddress(page: { readonly protocol: string; readonly host: string }): string {
  return `${page.protocol === 'https:' ? 'wss' : 'ws'}://${page.host}/wire`
}

const keyName = 'countersign.key'

/** What is used of a page's place. */
export interface Place {
  readonly location: { readonly hash: string; readonly pathname: string }
  readonly history: { replaceState(data: unknown, unused: string, url: string): void }
  readonly storage: { getItem(name: string): string | null; setItem(name: string, value: string): void }
}

/**
 * The subprotocol that carries this browser's key. A link leaves the key in the address once; it is kept where only pages
 * of this very origin, port included, can read it, and taken out of the address, which is shown and copied.
 */
export function keyProtocol(place: Place): string {
  const given = /^#key=([\w-]+)$/.exec(place.location.hash)?.[1]
  if (given !== undefined) {
    place.storage.setItem(keyName, given)
    place.history.replaceState(null, '', place.location.pathname)
  }
  return `countersign.key.${given ?? place.storage.getItem(keyName) ?? 'none'}`
}

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: TransportError) => void
}

export class BrowserTransport implements Transport {
  readonly kind = 'browser'
  malformed = 0
  #options: BrowserOptions
  #socket: Socket | null = null
  #open = false
  #ended = false
  #pause = firstPause
  #timer: ReturnType<typeof setTimeout> | null = null
  #waiting = new Map<string, Waiting>()
  #frame = new Signal<Frame>()
  #lost = new Signal<void>()
  #restored = new Signal<void>()

  constructor(options: BrowserOptions) { this.#options = options }

  onFrame(callback: (frame: Frame) => void): void { this.#frame.on(callback) }
  onLost(callback: () => void): void { this.#lost.on(callback) }
  onRestored(callback: () => void): void { this.#restored.on(callback) }

  start(): void {
    if (!this.#ended && this.#socket === null) this.#connect()
  }

  close(): void {
    this.#ended = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#socket?.close()
    this.#drop()
  }

  do(request: Request): Promise<Reply> {
    const socket = this.#socket
    if (!this.#open || socket === null) return Promise.reject(new TransportError('closed', false))
    const text = JSON.stringify(request)
    // At worst three bytes a unit: only what might be too long is measured.
    if (text.length * 3 >= maxMessage && new TextEncoder().encode(text).length >= maxMessage) {
      return Promise.reject(new TransportError('too_large', false))
    }
    return new Promise((resolve, reject) => {
      // A command that is sent again under its id takes the place of the first: either reply answers it.
      this.#waiting.get(request.command_id)?.reject(new TransportError('closed', true))
      this.#waiting.set(request.command_id, { resolve, reject })
      try {
        socket.send(text)
      } catch {
        this.#waiting.delete(request.command_id)
        reject(new TransportError('closed', false))
      }
    })
  }

  #connect(): void {
    this.#timer = null
    const socket = this.#options.open()
    this.#socket = socket
    socket.onopen = () => {
      if (this.#socket !== socket) return
      this.#open = true
      this.#restored.emit()
    }
    socket.onmessage = (event: { readonly data: unknown }) => {
      if (this.#socket === socket) this.#take(event.data)
    }
    socket.onclose = () => {
      if (this.#socket !== socket) return
      this.#drop()
      this.#again()
    }
  }

  #drop(): void {
    const was = this.#open
    this.#socket = null
    this.#open = false
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const one of waiting) one.reject(new TransportError('closed', true))
    if (was) this.#lost.emit()
  }

  #again(): void {
    if (this.#ended) return
    const chance = this.#options.random ?? Math.random
    this.#timer = setTimeout(() => this.#connect(), this.#pause * (1 + chance() / 4))
    this.#pause = Math.min(this.#pause * 2, longestPause)
  }

  #take(data: unknown): void {
    const fields = parseObject(data)
    const frame = fields === null || fields['frame'] === undefined ? null : readFrame(fields)
    const reply = fields === null || frame !== null || fields['frame'] !== undefined ? null : readReply(fields)
    if (frame === null && reply === null) {
      this.malformed++
      return
    }
    // Only something that speaks our language ends the growing pauses: a port that only accepts does not.
    this.#pause = firstPause
    if (frame !== null) this.#frame.emit(frame)
    if (reply !== null) {
      const waiting = this.#waiting.get(reply.command_id)
      this.#waiting.delete(reply.command_id)
      waiting?.resolve(reply)
    }
  }
}
