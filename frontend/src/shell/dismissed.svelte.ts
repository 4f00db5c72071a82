// The banners that the owner has put away. They stay away until the program is started again.
import { SvelteSet } from 'svelte/reactivity'

export const dismissed = new SvelteSet<string>()
