// The card that is open, for the keys of the page.
import type { CardControl } from './control.svelte'

class Current {
  control: CardControl | null = $state.raw(null)
}

export const current = new Current()
