// One predicate for keys that must not act, shared by everything that listens to keys.

/** What is read of a keyboard event. */
export interface KeyLike {
  readonly key: string
  readonly code: string
  readonly keyCode: number
  readonly repeat: boolean
  readonly isComposing: boolean
  readonly altKey: boolean
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly shiftKey: boolean
}

/** The key code of a key that an input method has taken. Some engines send it without isComposing. */
const takenByInputMethod = 229

const modifiers = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'OS', 'Hyper', 'Super', 'Fn', 'FnLock', 'CapsLock', 'NumLock', 'ScrollLock'])

/** Whether a key acts on nothing: it repeats because it is held, or an input method is composing with it. */
export function ignoredKey(event: KeyLike): boolean {
  return event.repeat || event.isComposing || event.keyCode === takenByInputMethod || event.key === 'Process' || event.key === 'Dead'
    || event.key === 'Unidentified'
}

/** Whether a key counts as input, for which Allow waits. Modifiers do not: a chord begins with one. Repeats and input
 * methods do: somebody is typing. */
export function isInput(event: KeyLike): boolean {
  return !modifiers.has(event.key)
}

/** Whether a key activates the button that has the focus, in some engine. */
export function activatesButton(event: Pick<KeyLike, 'key' | 'code'>): boolean {
  return event.key === 'Enter' || event.key === ' ' || event.key === 'Spacebar' || event.code === 'Space' || event.code === 'Enter'
    || event.code === 'NumpadEnter'
}
