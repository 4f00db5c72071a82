// The window's way to the core: the bridge that the app binds into its page, and the app's events.
import { parseObject, readFrame, readReply } from './message'
import { Signal, TransportError, type Transport } from './transport'
import type { AppStatus, Frame, Reply, Request } from './types.gen'

/** What the app binds into the page. */
export interface Bound {
  readonly Do: (request: string) => Promise<string>
  /** Follows an event; the result ends it. */
  readonly on: (event: string, callback: (payload: unknown) => void) => () => void
}

/** A page, and perhaps a card, that somebody asked for outside of the window. */
export interface Wanted {
  readonly page: string
  readonly question: string
}

interface WailsWindow {
  readonly go?: { readonly bridge?: { readonly Bridge?: { readonly Do?: (request: string) => Promise<string> } } }
  readonly runtime?: { readonly EventsOn?: (event: string, callback: (...payload: unknown[]) => void) => () => void }
}

/** Finds what the app has bound; null in a browser. */
export function boundIn(page: unknown): Bound | null {
  const window = page as WailsWindow
  const bridge = window.go?.bridge?.Bridge
  const runtime = window.runtime
  if (typeof bridge?.Do !== 'function' || typeof runtime?.EventsOn !== 'function') return null
  const { EventsOn } = runtime
  return {
    Do: (request) => bridge.Do?.(request) ?? Promise.reject(new Error('the bridge is gone')),
    on: (event, callback) => EventsOn(event, (payload) => callback(payload)),
  }
}

const phases: ReadonlySet<string> = new Set(['opening', 'passphrase', 'new_passphrase', 'fault', 'elsewhere', 'ready', 'closing'])

export function readAppStatus(fields: Readonly<Record<string, unknown>> | null): AppStatus | null {
  if (fields === null || typeof fields['phase'] !== 'string' || !phases.has(fields['phase'])) return null
  return fields as unknown as AppStatus
}

export class WindowTransport implements Transport {
  readonly kind = 'window'
  malformed = 0
  #bound: Bound
  #ready = false
  #ends: (() => void)[] = []
  #frame = new Signal<Frame>()
  #lost = new Signal<void>()
  #restored = new Signal<void>()
  #app = new Signal<AppStatus>()
  #wanted = new Signal<Wanted>()

  constructor(bound: Bound) { this.#bound = bound }

  onFrame(callback: (frame: Frame) => void): void { this.#frame.on(callback) }
  onLost(callback: () => void): void { this.#lost.on(callback) }
  onRestored(callback: () => void): void { this.#restored.on(callback) }
  /** What the app knows about itself, whenever it changes. */
  onApp(callback: (app: AppStatus) => void): void { this.#app.on(callback) }
  onWanted(callback: (wanted: Wanted) => void): void { this.#wanted.on(callback) }

  start(): void {
    if (this.#ends.length > 0) return
    const on = (event: string, callback: (fields: Readonly<Record<string, unknown>> | null) => void): void => {
      this.#ends.push(this.#bound.on(event, (payload) => callback(parseObject(payload))))
    }
    on('frame', (fields) => {
      const frame = fields === null ? null : readFrame(fields)
      if (frame === null) this.malformed++
      else this.#frame.emit(frame)
    })
    on('lost', () => {
      this.#lost.emit()
      // The bridge itself is still there: a new snapshot can be taken at once, unless the core is gone too.
      if (this.#ready) this.#restored.emit()
    })
    on('app', (fields) => {
      const app = readAppStatus(fields)
      if (app === null) this.malformed++
      else this.phase(app)
    })
    on('navigate', (fields) => {
      const text = (name: string): string => (typeof fields?.[name] === 'string' ? fields[name] : '')
      this.#wanted.emit({ page: text('page'), question: text('question') })
    })
  }

  /** Takes what the app says about itself, from its event or from the answer to app_status. */
  phase(app: AppStatus): void {
    const was = this.#ready
    this.#ready = app.phase === 'ready'
    this.#app.emit(app)
    if (this.#ready && !was) this.#restored.emit()
    if (!this.#ready && was) this.#lost.emit()
  }

  close(): void {
    for (const end of this.#ends) end()
    this.#ends = []
  }

  async do(request: Request): Promise<Reply> {
    let text: string
    try {
      text = await this.#bound.Do(JSON.stringify(request))
    } catch {
      throw new TransportError('closed', true)
    }
    const fields = parseObject(text)
    const reply = fields === null ? null : readReply(fields)
    if (reply === null || reply.command_id !== request.command_id) {
      this.malformed++
      throw new TransportError('malformed', true)
    }
    return reply
  }
}
