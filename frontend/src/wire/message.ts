// Messages as they come in. What is not a message is null: the transports count it and go on, because one bad message must
// not take a page down that others depend on.
import type { ErrorData, Frame, Reply } from './types.gen'

/** The longest message, in bytes. UTF-16 units are never more than bytes. */
export const maxMessage = 4 * 1024 * 1024

type Fields = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads one JSON object within the limits. */
export function parseObject(text: unknown): Fields | null {
  if (typeof text !== 'string' || text.length >= maxMessage) return null
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    // Also what a message that is nested too deeply ends in.
    return null
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function readError(value: unknown): ErrorData | null {
  if (!isObject(value) || typeof value['code'] !== 'string' || value['code'] === '') return null
  const args: Record<string, string> = {}
  if (isObject(value['args'])) {
    for (const [name, arg] of Object.entries(value['args'])) if (typeof arg === 'string') args[name] = arg
  }
  return { code: value['code'], args }
}

/** Reads a reply: a result, or an error. */
export function readReply(fields: Fields): Reply | null {
  const { command_id: id, applied, result, error } = fields
  if (typeof id !== 'string' || id === '' || typeof applied !== 'boolean') return null
  if (error === undefined || error === null) return { command_id: id, applied, result }
  const failure = readError(error)
  return failure === null ? null : { command_id: id, applied, error: failure }
}

/** Reads a frame. Its data is checked where it is used. */
export function readFrame(fields: Fields): Frame | null {
  const { frame, epoch, seq, prev_seq: prev, time, data } = fields
  if (typeof frame !== 'string' || frame === '' || typeof epoch !== 'string' || !isCount(seq) || !isCount(prev)) return null
  if (!isObject(data)) return null
  return { frame, epoch, seq, prev_seq: prev, time: typeof time === 'string' ? time : '', data }
}
