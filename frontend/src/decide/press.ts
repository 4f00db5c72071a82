// Whether a click on a deciding button is a person's act on a card that was ready for it. A pure state machine.
//
// A press by mouse, touch or pen counts if it began and ended on the same button, while that button was armed, and nothing
// started the waits again in between. A click that focused the window began before the focus, so it does not count; the
// second click of a double click does not count either. Assistive technology clicks without a pointer and without a key:
// that counts while the button is armed. Enter and Space on a focused button also click without a pointer; they never
// count. Their keys are taken from the buttons, and what an engine makes of them all the same is refused here.
import { arming, type ArmingState } from './arming'
import { activatesButton } from './input'

/** How long after Enter or Space a click without a pointer is taken for theirs, in ms. */
export const keyClickTime = 500
/** How long after a pointer was let go its click may still come, in ms. */
export const pointerClickTime = 400

export type Decides = 'allow' | 'deny'

/** What is read of a pointer event. */
export interface PointerLike {
  readonly button: number
  readonly isPrimary: boolean
}

/** What is read of a click. */
export interface ClickLike {
  readonly button: number
  readonly detail: number
  /** Missing or "" when no pointer made the click, and in engines whose clicks are plain mouse events. */
  readonly pointerType?: string | undefined
}

export interface PressState {
  /** The button that was pressed, and the run of the waits in which it was armed. null run: it was not. */
  readonly down: { readonly id: string; readonly run: number | null } | null
  /** When the pointer was let go. */
  readonly upAt: number | null
  readonly keyAt: number | null
}

export const noPress: PressState = { down: null, upAt: null, keyAt: null }

function isArmed(state: ArmingState, decides: Decides): boolean {
  const now = arming(state)
  return decides === 'allow' ? now.allow !== 'waiting' : now.deny === 'armed'
}

/** A press began. The state must not know this press as input yet: it would never be armed. id is "" beside the buttons. */
export function pressDown(id: string, decides: Decides | null, event: PointerLike, state: ArmingState): PressState {
  const counts = event.button === 0 && event.isPrimary && id !== '' && decides !== null && isArmed(state, decides)
  return { ...noPress, down: { id, run: counts ? state.run : null } }
}

/** The pointer was let go. Its click, if there is one, follows at once; the press may also end without any. */
export function pressUp(press: PressState, at: number): PressState {
  return { ...press, upAt: at }
}

/** A key went down or up. */
export function pressKey(press: PressState, event: { readonly key: string; readonly code: string }, at: number): PressState {
  return activatesButton(event) ? { ...press, keyAt: at } : press
}

/** The engine took the press away: it became a scroll, or a drag. */
export function pressCancel(press: PressState): PressState {
  return { ...press, down: null, upAt: null }
}

/** A click arrived at a button. Says whether it decides; the press is over in any case. */
export function pressClick(
  press: PressState, id: string, decides: Decides, event: ClickLike, state: ArmingState, at: number,
): { readonly press: PressState; readonly counts: boolean } {
  const over: PressState = { ...press, down: null, upAt: null }
  const down = press.upAt !== null && at - press.upAt > pointerClickTime ? null : press.down
  const open = state.focused && state.visible && !state.decided
  const pointer = event.detail > 0 || (event.pointerType ?? '') !== ''
  if (!open || event.button !== 0 || event.detail > 1) return { press: over, counts: false }
  if (pointer) {
    // Some engines give the click of assistive technology a count but no pointer before it; there the button must be armed
    // at the click. A pointer that was pressed elsewhere left its mark.
    if (down === null && (event.pointerType ?? '') === '') return { press: over, counts: virtualCounts(press, decides, state, at) }
    const counts = down !== null && down.id === id && down.run === state.run
    return { press: over, counts: counts && stillAllowed(state, decides) }
  }
  // A press that is still down belongs to a pointer; a click without a pointer in the middle of it is not its own.
  return { press: over, counts: down === null && virtualCounts(press, decides, state, at) }
}

/** At the end of a press its own input is not counted, but a file that went stale, or an end not shown, is. */
function stillAllowed(state: ArmingState, decides: Decides): boolean {
  return decides === 'deny' || !['stale', 'end'].includes(arming(state).waitsFor ?? '')
}

function virtualCounts(press: PressState, decides: Decides, state: ArmingState, at: number): boolean {
  return isArmed(state, decides) && (press.keyAt === null || at - press.keyAt > keyClickTime)
}
