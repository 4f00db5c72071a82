// Answers to questions. An answer is one command: while its fate is unknown the same command is sent again, under the same
// id, until a reply or the question's end tells; another command for that question is refused meanwhile.
import { wireError, WireError, type Client } from './client'
import type { AnswerResult, Question, QuestionReject, QuestionReply } from './types.gen'

/** The first pause before an answer is sent again, and the longest, in ms. */
export const firstRetry = 1000
export const longestRetry = 8000

export type AnswerState = 'sending' | 'unknown'

export type Answer =
  | { readonly action: 'question_reply'; readonly args: QuestionReply }
  | { readonly action: 'question_reject'; readonly args: QuestionReject }

/** Refusals that say nothing about the answer itself: it was not looked at, or the core was going down. */
const passing: ReadonlySet<string> = new Set(['busy', 'cancelled'])
/** Refusals that only say that this attempt did not arrive. They leave open what an earlier one did. */
const undelivered: ReadonlySet<string> = new Set(['not_connected', 'no_core'])

interface Flight {
  readonly commandID: string
  state: AnswerState
  /** The question's end, when a frame told it. */
  closed: Question | null
  wake: (() => void) | null
}

export class Answers {
  #client: Client
  #flights = new Map<string, Flight>()
  #changed: (question: string, state: AnswerState | null) => void

  constructor(client: Client, changed: (question: string, state: AnswerState | null) => void) {
    this.#client = client
    this.#changed = changed
  }

  pending(question: string): AnswerState | null { return this.#flights.get(question)?.state ?? null }
  /** The questions with an answer on its way. */
  waiting(): readonly string[] { return [...this.#flights.keys()] }

  /** Sends an answer and settles when its fate is known. Throws WireError. */
  async send(answer: Answer): Promise<AnswerResult> {
    const id = answer.args.id
    if (this.#flights.has(id)) throw new WireError('answer_pending', {}, false)
    const flight: Flight = { commandID: this.#client.newID(), state: 'sending', closed: null, wake: null }
    this.#flights.set(id, flight)
    this.#changed(id, flight.state)
    try {
      return await this.#until(flight, answer)
    } finally {
      this.#flights.delete(id)
      this.#changed(id, null)
    }
  }

  /** A question ended. An answer of unknown fate is over with it; one whose reply is due waits for that. */
  closed(question: Question): void {
    const flight = this.#flights.get(question.id)
    if (flight === undefined) return
    flight.closed = question
    if (flight.state === 'unknown') flight.wake?.()
  }

  /** The core can be asked again: answers of unknown fate do not wait for their pause. */
  restored(): void {
    for (const flight of this.#flights.values()) flight.wake?.()
  }

  async #until(flight: Flight, answer: Answer): Promise<AnswerResult> {
    let pause = firstRetry
    for (;;) {
      try {
        return await this.#attempt(flight, answer)
      } catch (thrown) {
        const error = wireError(thrown)
        const unknown = error.unknown || (flight.state === 'unknown' && undelivered.has(error.code))
        if (!unknown && !passing.has(error.code)) throw error
        if (unknown && flight.state !== 'unknown') {
          flight.state = 'unknown'
          this.#changed(answer.args.id, flight.state)
        }
      }
      if (flight.closed === null) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pause)
          flight.wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        flight.wake = null
        pause = Math.min(pause * 2, longestRetry)
      }
      if (flight.closed !== null) return ended(flight.closed)
    }
  }

  #attempt(flight: Flight, answer: Answer): Promise<AnswerResult> {
    return answer.action === 'question_reply'
      ? this.#client.call(answer.action, answer.args, flight.commandID)
      : this.#client.call(answer.action, answer.args, flight.commandID)
  }
}

/** The result as the question's own end tells it. */
function ended(question: Question): AnswerResult {
  return { applied: true, outcome: question.outcome ?? '', version: question.version }
}
