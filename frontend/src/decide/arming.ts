// When the buttons of a card may decide. A pure state machine over what happened to the window, the card and the
// person's hands; it holds no timer and reads no clock.
//
//   event          effect
//   focus, blur    the window got or lost the focus; either starts every wait again and closes the second step
//   visible,hidden the card came into or went out of sight; the same
//   content        what the card says, or the scope that is chosen, changed; the same, and the end must be shown again
//   input          a key, a press or a scroll: Allow waits for a pause
//   end-shown      the end of a long text was on the screen
//   step           the first act on a risky Allow: the second step opens, and waits by itself
//   step-back      the second step is left without deciding
//   decided        the act was sent: nothing is armed until the card starts again
//   released       the act that was sent came to nothing: every wait starts again
//   tick           time went by
//
// Deny is armed by: focus, sight, denyVisible since the latest of them.
// Allow is armed by: focus, sight, allowVisible (riskVisible) since the latest of them, inputPause without input, the end
// shown where the text has one, no stale file; and where the risk is high by the second step, stepVisible after it opened.

/** How long a card must be in sight before Allow counts, in ms. */
export const allowVisible = 700
/** The same where the risk is high. */
export const riskVisible = 1500
/** How long there must have been no input before Allow counts. */
export const inputPause = 500
/** How long a card must be in sight before Deny counts. */
export const denyVisible = 250
/** How long the second step must be open before it counts. */
export const stepVisible = 700

/** What the waits depend on. */
export interface Content {
  /** Names what is on the screen: the question, its version, the chosen offer. Another key starts every wait again. */
  readonly key: string
  readonly highRisk: boolean
  /** The text has an end that must have been on the screen. */
  readonly needsEnd: boolean
  /** A file changed since the proposal: Allow would be refused. */
  readonly stale: boolean
}

export type ArmingEvent =
  | { readonly type: 'focus' | 'blur' | 'visible' | 'hidden' | 'input' | 'end-shown' | 'step' | 'step-back' | 'decided' | 'released' | 'tick'; readonly at: number }
  | { readonly type: 'content'; readonly at: number; readonly content: Content }

export interface ArmingState {
  readonly now: number
  readonly focused: boolean
  readonly visible: boolean
  /** When the present stretch of focus, sight and unchanged content began. */
  readonly since: number
  readonly lastInput: number
  readonly endShown: boolean
  readonly stepAt: number | null
  readonly decided: boolean
  /** Counts everything that starts the waits again. A press that began in another run does not decide. */
  readonly run: number
  readonly content: Content
}

/** Why Allow waits. Only time passes by itself. */
export type WaitsFor = 'focus' | 'sight' | 'stale' | 'end' | 'time' | 'decided' | null

export interface Arming {
  readonly allow: 'armed' | 'waiting' | 'second_step'
  readonly deny: 'armed' | 'waiting'
  /** The second step is open: what is armed now is its own button. */
  readonly step: boolean
  readonly waitsFor: WaitsFor
  /** Until Allow is armed, if nothing else happens. 0: it is, or time alone does not arm it. */
  readonly remaining_ms: number
  /** Until anything here changes by time alone. null: nothing will. */
  readonly next_ms: number | null
}

const noContent: Content = { key: '', highRisk: true, needsEnd: true, stale: true }

/** A card that was not seen yet, in a window without focus: nothing is armed. */
export function initialArming(at: number): ArmingState {
  return {
    now: at, focused: false, visible: false, since: at, lastInput: at, endShown: false, stepAt: null, decided: false, run: 0,
    content: noContent,
  }
}

function startAgain(state: ArmingState, change: Partial<ArmingState>): ArmingState {
  return { ...state, ...change, since: state.now, stepAt: null, decided: false, run: state.run + 1 }
}

function sameContent(a: Content, b: Content): boolean {
  return a.key === b.key && a.highRisk === b.highRisk && a.needsEnd === b.needsEnd && a.stale === b.stale
}

export function nextArming(before: ArmingState, event: ArmingEvent): ArmingState {
  // A clock that runs backwards must not arm anything: time stands still until it has caught up.
  const state: ArmingState = { ...before, now: Math.max(before.now, event.at) }
  switch (event.type) {
    case 'focus': return state.focused ? state : startAgain(state, { focused: true })
    case 'blur': return state.focused ? startAgain(state, { focused: false }) : state
    case 'visible': return state.visible ? state : startAgain(state, { visible: true })
    case 'hidden': return state.visible ? startAgain(state, { visible: false }) : state
    case 'content':
      return sameContent(state.content, event.content) ? state
        : startAgain(state, { content: event.content, endShown: state.endShown && state.content.key === event.content.key })
    case 'input': return { ...state, lastInput: state.now }
    case 'end-shown': return { ...state, endShown: true }
    case 'step': return mayStep(state) ? { ...state, stepAt: state.now, run: state.run + 1 } : state
    case 'step-back': return state.stepAt === null ? state : { ...state, stepAt: null, run: state.run + 1 }
    case 'decided': return { ...state, decided: true }
    case 'released': return startAgain(state, {})
    case 'tick': return state
  }
}

/** Whether the second step may open. That the act before it counted is for press.ts to say: its own press is input, by
 * which the time of this state has started again. */
function mayStep(state: ArmingState): boolean {
  const { waitsFor } = arming(state)
  return state.content.highRisk && state.stepAt === null && (waitsFor === null || waitsFor === 'time')
}

/** What is armed now. */
export function arming(state: ArmingState): Arming {
  const { now, content } = state
  const open = state.focused && state.visible && !state.decided
  const denyWait = Math.max(0, state.since + denyVisible - now)
  const seen = state.since + (content.highRisk ? riskVisible : allowVisible)
  const step = state.stepAt === null ? 0 : state.stepAt + stepVisible
  const allowWait = Math.max(0, seen - now, state.lastInput + inputPause - now, step - now)
  const waitsFor: WaitsFor = !state.focused ? 'focus' : !state.visible ? 'sight' : state.decided ? 'decided'
    : content.stale ? 'stale' : content.needsEnd && !state.endShown ? 'end' : allowWait > 0 ? 'time' : null
  const denyArmed = open && denyWait === 0
  const changes = [open && denyWait > 0 ? denyWait : 0, waitsFor === 'time' ? allowWait : 0].filter((ms) => ms > 0)
  return {
    allow: waitsFor !== null ? 'waiting' : content.highRisk && state.stepAt === null ? 'second_step' : 'armed',
    deny: denyArmed ? 'armed' : 'waiting',
    step: state.stepAt !== null,
    waitsFor,
    remaining_ms: waitsFor === 'time' ? allowWait : 0,
    next_ms: changes.length === 0 ? null : Math.min(...changes),
  }
}
