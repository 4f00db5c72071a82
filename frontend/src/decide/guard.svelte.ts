// The guard of one card's buttons: it listens to the window, keeps the time, and asks the two state machines (arming.ts,
// press.ts) whether an act counts. Components show what view says and bring their buttons here.
import {
  arming, initialArming, nextArming, type Arming, type ArmingEvent, type ArmingState, type Content,
} from './arming'
import { activatesButton, isInput } from './input'
import { noPress, pressCancel, pressClick, pressDown, pressKey, pressUp, type Decides } from './press'

/** What became of an act: it decides; it opened the second step; it came too early. */
export type Act = 'decides' | 'second_step' | 'waits'

type Clock = () => number

export class Guard {
  view: Arming = $state.raw(arming(initialArming(0)))
  /** The card is in sight: it is in the window, and the page is not hidden. */
  inSight: boolean = $state(false)
  #state: ArmingState
  /** view again, to be compared without making whoever called depend on it. */
  #last: Arming
  #press = noPress
  #clock: Clock
  #timer: ReturnType<typeof setTimeout> | null = null
  /** The last key event with the state before it: a chord that decides must not find itself as input. */
  #key: { readonly event: Event; readonly before: ArmingState } | null = null
  #cardVisible = false
  #pageVisible = true
  #buttons = new WeakMap<Element, { readonly id: string; readonly decides: Decides }>()

  constructor(clock: Clock = () => performance.now()) {
    this.#clock = clock
    this.#state = initialArming(clock())
    this.view = this.#last = arming(this.#state)
  }

  /** Follows the window until the returned function is called. */
  listen(page: Window): () => void {
    const end = new AbortController()
    const on = (target: EventTarget, name: string, act: (event: Event) => void): void =>
      target.addEventListener(name, act, { capture: true, passive: true, signal: end.signal })
    const showing = (): void => {
      this.#pageVisible = page.document.visibilityState !== 'hidden'
      this.#sight()
    }
    on(page, 'focus', (event) => { if (event.target === page || event.target === page.document) this.#to({ type: 'focus', at: this.#clock() }) })
    on(page, 'blur', (event) => { if (event.target === page || event.target === page.document) this.#to({ type: 'blur', at: this.#clock() }) })
    on(page.document, 'visibilitychange', showing)
    on(page, 'pointerdown', (event) => { if (event instanceof PointerEvent) this.#down(event) })
    on(page, 'pointerup', () => { this.#press = pressUp(this.#press, this.#clock()) })
    on(page, 'pointercancel', () => { this.#press = pressCancel(this.#press) })
    on(page, 'wheel', () => this.#input())
    on(page, 'keydown', (event) => { if (event instanceof KeyboardEvent) this.#keyboard(event) })
    on(page, 'keyup', (event) => { if (event instanceof KeyboardEvent) this.#keyboard(event) })
    this.#to({ type: page.document.hasFocus() ? 'focus' : 'blur', at: this.#clock() })
    showing()
    return () => {
      end.abort()
      if (this.#timer !== null) clearTimeout(this.#timer)
      this.#timer = null
    }
  }

  /** What is on the card now. Another key, or a change of what the waits depend on, starts them again. */
  content(content: Content): void { this.#to({ type: 'content', at: this.#clock(), content }) }
  /** Whether the card is in sight, as far as the page knows. */
  visible(visible: boolean): void {
    this.#cardVisible = visible
    this.#sight()
  }
  /** The end of the text was on the screen. */
  endShown(): void { this.#to({ type: 'end-shown', at: this.#clock() }) }
  /** Leaves the second step; false when it was not open. */
  stepBack(): boolean {
    const open = this.#state.stepAt !== null
    this.#to({ type: 'step-back', at: this.#clock() })
    return open
  }
  /** An answer that was sent came to nothing, and the question is still open. */
  released(): void { this.#to({ type: 'released', at: this.#clock() }) }

  /** A key chord asks to decide. The event is the one that is being handled. */
  act(decides: Decides, event: Event): Act {
    const state = this.#key?.event === event ? nextArming(this.#key.before, { type: 'tick', at: this.#clock() }) : this.#state
    const now = arming(state)
    const armed = decides === 'allow' ? now.allow !== 'waiting' : now.deny === 'armed'
    return armed && state.run === this.#state.run ? this.#decide(decides, state) : 'waits'
  }

  /** Makes an element one of the deciding buttons; for {@attach}. act is told what a click that counts does. */
  button(id: string, decides: Decides, act: (act: Act) => void): (element: HTMLElement) => () => void {
    return (element) => {
      const end = new AbortController()
      this.#buttons.set(element, { id, decides })
      const noKeys = (event: Event): void => {
        if (event instanceof KeyboardEvent && activatesButton(event)) event.preventDefault()
      }
      element.addEventListener('keydown', noKeys, { signal: end.signal })
      element.addEventListener('keyup', noKeys, { signal: end.signal })
      element.addEventListener('keypress', noKeys, { signal: end.signal })
      element.addEventListener('click', (event) => {
        const at = this.#clock()
        this.#to({ type: 'tick', at })
        const click = {
          button: event.button, detail: event.detail,
          pointerType: event instanceof PointerEvent ? event.pointerType : undefined,
        }
        const { press, counts } = pressClick(this.#press, id, decides, click, this.#state, at)
        this.#press = press
        if (counts) act(this.#decide(decides, this.#state))
      }, { signal: end.signal })
      return () => {
        end.abort()
        this.#buttons.delete(element)
      }
    }
  }

  #decide(decides: Decides, state: ArmingState): Act {
    if (decides === 'allow' && state.content.highRisk && state.stepAt === null) {
      // Of the state before the act: the press that opens the step is input, after which nothing would be armed.
      this.#set(nextArming(nextArming(state, { type: 'step', at: state.now }), { type: 'input', at: this.#clock() }))
      return 'second_step'
    }
    this.#to({ type: 'decided', at: this.#clock() })
    return 'decides'
  }

  #down(event: PointerEvent): void {
    this.#to({ type: 'tick', at: this.#clock() })
    const path = event.composedPath()
    const hit = path.map((target) => (target instanceof Element ? this.#buttons.get(target) : undefined)).find((found) => found !== undefined)
    this.#press = pressDown(hit?.id ?? '', hit?.decides ?? null, event, this.#state)
    this.#input()
  }

  #keyboard(event: KeyboardEvent): void {
    const at = this.#clock()
    this.#key = { event, before: this.#state }
    this.#press = pressKey(this.#press, event, at)
    if (isInput(event)) this.#input()
  }

  #input(): void { this.#to({ type: 'input', at: this.#clock() }) }
  #sight(): void {
    this.inSight = this.#cardVisible && this.#pageVisible
    this.#to({ type: this.#cardVisible && this.#pageVisible ? 'visible' : 'hidden', at: this.#clock() })
  }
  #to(event: ArmingEvent): void { this.#set(nextArming(this.#state, event)) }

  #set(state: ArmingState): void {
    this.#state = state
    const view = arming(state)
    const old = this.#last
    if (view.allow !== old.allow || view.deny !== old.deny || view.step !== old.step || view.waitsFor !== old.waitsFor
      || view.remaining_ms !== old.remaining_ms) this.view = this.#last = view
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = view.next_ms === null ? null : setTimeout(() => this.#to({ type: 'tick', at: this.#clock() }), Math.ceil(view.next_ms))
  }
}
