// Calls of actions by name, with their types. A reply that does not come in time is an error whose fate is unknown: what
// was asked may have been done.
import { newCommandID } from './commandid'
import { TransportError, type Transport } from './transport'
import type { Actions, Reply } from './types.gen'

/** How long a reply may take, in ms. */
export const replyTime = 10_000
/** The same for what reads a whole history, or opens a store. */
export const longReplyTime = 120_000

/** Codes of this page itself. */
export const codeNoReply = 'no_reply'
export const codeNotConnected = 'not_connected'
export const codeTooLarge = 'too_large'
export const codeBadReply = 'bad_reply'

const slow: ReadonlySet<keyof Actions> = new Set<keyof Actions>(['verify_receipts', 'app_unlock', 'app_take_over', 'app_retry'])

/** An error as screens show it: a code with the arguments of its sentence. unknown: the core may have applied it. */
export class WireError extends Error {
  constructor(readonly code: string, readonly args: Readonly<Record<string, string>>, readonly unknown: boolean) {
    super(code)
    this.name = 'WireError'
  }
}

/** The error of anything that was thrown by a call. */
export function wireError(thrown: unknown): WireError {
  if (thrown instanceof WireError) return thrown
  return new WireError('internal_error', {}, true)
}

function limitOf<A extends keyof Actions>(action: A, args: Actions[A][0]): number {
  if (slow.has(action)) return longReplyTime
  const wait: unknown = (args as { readonly wait_ms?: unknown }).wait_ms
  return typeof wait === 'number' ? wait + replyTime : replyTime
}

export class Client {
  readonly transport: Transport
  #newID: () => string

  constructor(transport: Transport, newID: () => string = newCommandID) {
    this.transport = transport
    this.#newID = newID
  }

  newID(): string { return this.#newID() }

  /** Asks for an action. With a command id it is that command again, not another one. */
  async call<A extends keyof Actions>(action: A, args: Actions[A][0], commandID = this.#newID()): Promise<Actions[A][1]> {
    let reply: Reply
    try {
      reply = await within(this.transport.do({ action, command_id: commandID, args }), limitOf(action, args))
    } catch (thrown) {
      if (thrown instanceof WireError) throw thrown
      throw transportFailure(thrown)
    }
    if (reply.error !== undefined) throw new WireError(reply.error.code, reply.error.args ?? {}, false)
    if (typeof reply.result !== 'object' || reply.result === null) throw new WireError(codeBadReply, { action }, true)
    return reply.result as Actions[A][1]
  }
}

function transportFailure(thrown: unknown): WireError {
  if (!(thrown instanceof TransportError)) return new WireError('internal_error', {}, true)
  switch (thrown.reason) {
    case 'too_large': return new WireError(codeTooLarge, {}, false)
    case 'malformed': return new WireError(codeBadReply, {}, true)
    case 'closed': return new WireError(thrown.sent ? codeNoReply : codeNotConnected, {}, thrown.sent)
  }
}

function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new WireError(codeNoReply, {}, true)), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
