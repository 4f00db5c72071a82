// A transport for tests: requests wait until a test, or a table of answers, replies.
import { Signal, TransportError, type Transport } from './transport'
import type { Frame, Reply, Request } from './types.gen'

export interface Asked {
  readonly request: Request
  reply(result: unknown): void
  refuse(code: string, args?: Record<string, string>): void
  fail(sent: boolean): void
}

export class FakeTransport implements Transport {
  malformed = 0
  readonly asked: Asked[] = []
  /** What is answered at once, by action. undefined: the request waits. */
  answers: (request: Request) => unknown = () => undefined
  readonly frames = new Signal<Frame>()
  readonly losses = new Signal<void>()
  readonly restores = new Signal<void>()
  started = false

  constructor(readonly kind: 'window' | 'browser' = 'browser') {}

  onFrame(callback: (frame: Frame) => void): void { this.frames.on(callback) }
  onLost(callback: () => void): void { this.losses.on(callback) }
  onRestored(callback: () => void): void { this.restores.on(callback) }
  start(): void { this.started = true }
  close(): void { this.started = false }

  do(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const asked: Asked = {
        request,
        reply: (result) => resolve({ command_id: request.command_id, applied: true, result }),
        refuse: (code, args = {}) => resolve({ command_id: request.command_id, applied: false, error: { code, args } }),
        fail: (sent) => reject(new TransportError('closed', sent)),
      }
      this.asked.push(asked)
      const answer = this.answers(request)
      if (answer instanceof Refusal) asked.refuse(answer.code, answer.args)
      else if (answer !== undefined) asked.reply(answer)
    })
  }

  /** The requests of an action. */
  of(action: string): Asked[] { return this.asked.filter((one) => one.request.action === action) }
  last(action: string): Asked { return this.of(action).at(-1) as Asked }
}

export class Refusal {
  constructor(readonly code: string, readonly args: Record<string, string> = {}) {}
}
