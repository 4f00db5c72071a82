// How requests reach the core and frames come back. There are two: the window's bridge and a browser's socket.
import type { Frame, Reply, Request } from './types.gen'

/** Why a request has no reply. sent: the core may have applied it. */
export class TransportError extends Error {
  constructor(readonly reason: 'closed' | 'malformed' | 'too_large', readonly sent: boolean) {
    super(reason)
    this.name = 'TransportError'
  }
}

export interface Transport {
  readonly kind: 'window' | 'browser'
  /** Sends a request; rejects with TransportError. It may never settle: the client has time limits. */
  do(request: Request): Promise<Reply>
  onFrame(callback: (frame: Frame) => void): void
  /** The frames ended: what follows may have a gap. */
  onLost(callback: () => void): void
  /** The core can be asked again, or for the first time. */
  onRestored(callback: () => void): void
  start(): void
  close(): void
  /** Messages that were no messages. */
  readonly malformed: number
}

/** A list of callbacks. */
export class Signal<T> {
  #callbacks: ((value: T) => void)[] = []
  on(callback: (value: T) => void): void { this.#callbacks.push(callback) }
  emit(value: T): void { for (const callback of this.#callbacks) callback(value) }
}
