// Whether a card is in sight: in the window, and under no dialog. A page that is hidden as a whole is for the guard to know.

/** Follows it until the returned function is called. */
export function watchSight(card: Element, tell: (visible: boolean) => void): () => void {
  let onScreen = false
  const page = card.ownerDocument
  const sum = (): void => tell(onScreen && page.querySelector('dialog[open]') === null)
  const screen = new IntersectionObserver((entries) => {
    onScreen = latest(entries)
    sum()
  })
  // A dialog that opens tells nobody in older engines.
  const dialogs = new MutationObserver(sum)
  screen.observe(card)
  dialogs.observe(page.body, { subtree: true, childList: true, attributeFilter: ['open'] })
  return () => {
    screen.disconnect()
    dialogs.disconnect()
  }
}

/** Whether it is in the window by the latest of what was told: one call may tell of several changes. */
export function latest(entries: readonly { readonly isIntersecting: boolean }[]): boolean {
  return entries.at(-1)?.isIntersecting === true
}
