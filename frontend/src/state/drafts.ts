// Notes that were begun and not sent, each with its request. They are kept in memory only, for as long as the request waits,
// and never shown with another one.

export class Drafts {
  #notes = new Map<string, string>()

  /** What was written about a request, '' for nothing. */
  of(question: string): string { return this.#notes.get(question) ?? '' }

  keep(question: string, note: string): void {
    if (note.trim() === '') this.#notes.delete(question)
    else this.#notes.set(question, note)
  }

  /** Forgets the notes of every request that does not wait any more. */
  only(waiting: Iterable<string>): void {
    const ids = new Set(waiting)
    for (const id of this.#notes.keys()) if (!ids.has(id)) this.#notes.delete(id)
  }
}
