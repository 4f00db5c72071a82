// Whether the end of everything that is long was on the screen: of the command, of the lines of each changed file, of the
// facts and arguments. Each has an element over its last line; what counts is that element in the window, past every box
// that could cut it off, not where a box has been scrolled to.

/** How much of a last line must be in sight. */
export const wholeLine = 0.75

/** What is read of an entry of an IntersectionObserver. */
interface Entry { readonly target: Element; readonly intersectionRatio: number }
type Watcher = Pick<IntersectionObserver, 'observe' | 'unobserve' | 'disconnect'>
type MakeWatcher = (tell: (entries: readonly Entry[]) => void) => Watcher

const inWindow: MakeWatcher = (tell) => new IntersectionObserver(tell, { threshold: [0, wholeLine, 1] })

export class Ends {
  /** Some end is out of sight, and was not seen before. False until it is known. */
  hidden: boolean = $state(false)
  /** Every end was seen. */
  all: boolean = $state(false)
  #ends = new Map<Element, boolean | null>()
  #watcher: Watcher | null = null
  readonly #make: MakeWatcher

  constructor(make: MakeWatcher = inWindow) { this.#make = make }

  /** Another text has other ends: nothing of it was seen. */
  restart(): void {
    for (const end of this.#ends.keys()) {
      this.#ends.set(end, null)
      // Whoever observes anew is told anew.
      this.#watcher?.unobserve(end)
      this.#watcher?.observe(end)
    }
    this.#sum()
  }

  /** Makes an element an end; for {@attach}. */
  readonly at = (seen?: () => void) => (end: Element): (() => void) => {
    this.#watcher ??= this.#make((entries) => this.#told(entries))
    this.#ends.set(end, null)
    this.#seen.set(end, seen)
    this.#watcher.observe(end)
    this.#sum()
    return () => {
      this.#watcher?.unobserve(end)
      this.#ends.delete(end)
      this.#sum()
      if (this.#ends.size > 0) return
      this.#watcher?.disconnect()
      this.#watcher = null
    }
  }
  #seen = new WeakMap<Element, (() => void) | undefined>()

  #told(entries: readonly Entry[]): void {
    // One element may be told about twice, the latest last.
    for (const { target, intersectionRatio } of entries) {
      if (!this.#ends.has(target) || this.#ends.get(target) === true) continue
      const shown = intersectionRatio >= wholeLine
      this.#ends.set(target, shown)
      if (shown) this.#seen.get(target)?.()
    }
    this.#sum()
  }

  #sum(): void {
    const states = [...this.#ends.values()]
    this.all = states.length > 0 && states.every((seen) => seen === true)
    this.hidden = states.includes(false)
  }
}
