// Words of the store that pure modules use too.
export type Connection = 'connecting' | 'ready' | 'lost' | 'other_version'
export type Page = 'inbox' | 'sessions' | 'projects' | 'receipts' | 'settings'
/** How far an answer is: on its way, or sent without a word of what became of it. */
export type Pending = 'sending' | 'unknown' | null

/** One line for the polite live region: a catalogue key with its arguments. */
export interface Notice {
  readonly id: number
  readonly key: string
  readonly args: Readonly<Record<string, string>>
  /** The question that its button opens. */
  readonly opens?: string
}

export const pages: readonly Page[] = ['inbox', 'sessions', 'projects', 'receipts', 'settings']

export function isPage(name: string): name is Page {
  return (pages as readonly string[]).includes(name)
}
