// The order of the rows on the screen, for the keys and for "2 of 7".
class Order {
  /** Ids of the questions in their rows, from top to bottom, decided ones last. */
  all: readonly string[] = $state.raw([])
  /** Those that wait. */
  open: readonly string[] = $state.raw([])

  /** The question some rows away from this one; without one the first. */
  beside(id: string | null, step: 1 | -1): string | null {
    const at = id === null ? -1 : this.all.indexOf(id)
    if (at < 0) return this.all[0] ?? null
    return this.all[Math.max(0, Math.min(this.all.length - 1, at + step))] ?? null
  }
}

export const order = new Order()
