import { describe, expect, it } from 'vitest'
import {
  allowVisible, arming, denyVisible, initialArming, inputPause, nextArming, riskVisible, stepVisible,
  type ArmingEvent, type ArmingState, type Content,
} from './arming'

const calm: Content = { key: 'q 1 1 whole', highRisk: false, needsEnd: false, stale: false }
const risky: Content = { ...calm, key: 'q 1 2 whole', highRisk: true }
const start = 10_000

function run(...events: ArmingEvent[]): ArmingState {
  return events.reduce(nextArming, initialArming(start - 5000))
}
/** A card in a focused window, at the start. */
function opened(content: Content, ...events: ArmingEvent[]): ArmingState {
  return run({ type: 'focus', at: start }, { type: 'content', at: start, content }, { type: 'visible', at: start }, ...events)
}
const tick = (after: number): ArmingEvent => ({ type: 'tick', at: start + after })
const on = (type: 'focus' | 'blur' | 'visible' | 'hidden' | 'input' | 'end-shown' | 'step' | 'step-back' | 'decided' | 'released', after: number): ArmingEvent =>
  ({ type, at: start + after })
const changed = (content: Content, after: number): ArmingEvent => ({ type: 'content', at: start + after, content })

const a = allowVisible
const d = denyVisible
const r = riskVisible

describe('what is armed', () => {
  const cases: [string, Content, ArmingEvent[], string, string][] = [
    ['just before Deny', calm, [tick(d - 1)], 'waiting', 'waiting'],
    ['Deny', calm, [tick(d)], 'waiting', 'armed'],
    ['just before Allow', calm, [tick(a - 1)], 'waiting', 'armed'],
    ['Allow', calm, [tick(a)], 'armed', 'armed'],
    ['just before a risky Allow', risky, [tick(r - 1)], 'waiting', 'armed'],
    ['a risky Allow: its second step', risky, [tick(r)], 'second_step', 'armed'],
    ['input just before', calm, [on('input', a - 1), tick(a)], 'waiting', 'armed'],
    ['just before the pause is over', calm, [on('input', 900), tick(900 + inputPause - 1)], 'waiting', 'armed'],
    ['after the pause', calm, [on('input', 900), tick(900 + inputPause)], 'armed', 'armed'],
    ['input does not hold up Deny', calm, [on('input', d - 1), tick(d)], 'waiting', 'armed'],
    ['without focus', calm, [on('blur', 5000), tick(9000)], 'waiting', 'waiting'],
    ['just after the focus returned', calm, [on('blur', 5000), on('focus', 9000), tick(9000 + a - 1)], 'waiting', 'armed'],
    ['again after the focus returned', calm, [on('blur', 5000), on('focus', 9000), tick(9000 + a)], 'armed', 'armed'],
    ['out of sight', calm, [on('hidden', 5000), tick(9000)], 'waiting', 'waiting'],
    ['just after it came back', calm, [on('hidden', 5000), on('visible', 6000), tick(6000 + d - 1)], 'waiting', 'waiting'],
    ['just after the content changed', calm, [changed({ ...calm, key: 'q 2 1 whole' }, 5000), tick(5000 + a - 1)], 'waiting', 'armed'],
    ['after the content changed', calm, [changed({ ...calm, key: 'q 2 1 whole' }, 5000), tick(5000 + a)], 'armed', 'armed'],
    ['the same content again changes nothing', calm, [tick(a - 1), changed({ ...calm }, a - 1), tick(a)], 'armed', 'armed'],
    ['focus that was there changes nothing', calm, [on('focus', a - 1), on('visible', a - 1), tick(a)], 'armed', 'armed'],
    ['the end was not shown', { ...calm, needsEnd: true }, [tick(9000)], 'waiting', 'armed'],
    ['the end was shown', { ...calm, needsEnd: true }, [on('end-shown', 800), tick(900)], 'armed', 'armed'],
    ['another text has another end', { ...calm, needsEnd: true }, [on('end-shown', 800), changed({ ...calm, key: 'other', needsEnd: true }, 900), tick(9000)], 'waiting', 'armed'],
    ['a stale file', { ...calm, stale: true }, [tick(9000)], 'waiting', 'armed'],
    ['a file that goes stale', calm, [tick(2000), changed({ ...calm, stale: true }, 2000), tick(9000)], 'waiting', 'armed'],
    ['choosing a standing rule', calm, [tick(a), changed(risky, 3000), tick(3000 + a)], 'waiting', 'armed'],
    ['after the answer was sent', calm, [on('decided', 2000), tick(9000)], 'waiting', 'waiting'],
    ['after it came to nothing', calm, [on('decided', 2000), on('released', 3000), tick(3000 + a)], 'armed', 'armed'],
    ['a clock that runs backwards', calm, [tick(a), on('blur', -4000), on('focus', -4000), tick(100)], 'waiting', 'waiting'],
    ['just after the step opened', risky, [tick(r), on('step', r), tick(r + stepVisible - 1)], 'waiting', 'armed'],
    ['the second step', risky, [tick(r), on('step', r), tick(r + stepVisible)], 'armed', 'armed'],
    ['the step of the press that is itself input', risky, [tick(r), on('input', r), on('step', r), on('input', r), tick(r + stepVisible)], 'armed', 'armed'],
    ['no step without a risk', calm, [tick(a), on('step', a), tick(9000)], 'armed', 'armed'],
    ['no step on a stale file', { ...risky, stale: true }, [tick(r), on('step', r), tick(9000)], 'waiting', 'armed'],
    ['left again', risky, [tick(r), on('step', r), on('step-back', 3000), tick(3000)], 'second_step', 'armed'],
    ['the step closes with the focus', risky, [tick(r), on('step', r), on('blur', 3000), on('focus', 4000), tick(4000 + r)], 'second_step', 'armed'],
    ['the step closes with the content', risky, [tick(r), on('step', r), changed({ ...risky, key: 'x' }, 3000), tick(3000 + r)], 'second_step', 'armed'],
  ]
  it.each(cases)('%s', (_name, content, events, allow, deny) => {
    const now = arming(opened(content, ...events))
    expect([now.allow, now.deny]).toEqual([allow, deny])
  })
})

it('arms nothing before it was told anything', () => {
  expect(arming(run(tick(90_000)))).toMatchObject({ allow: 'waiting', deny: 'waiting', waitsFor: 'focus', next_ms: null })
})

it('says what Allow waits for, and for how long', () => {
  expect(arming(opened(calm, tick(100)))).toMatchObject({ waitsFor: 'time', remaining_ms: a - 100, next_ms: d - 100 })
  expect(arming(opened(calm, tick(300)))).toMatchObject({ waitsFor: 'time', remaining_ms: a - 300, next_ms: a - 300 })
  expect(arming(opened(calm, tick(a)))).toMatchObject({ waitsFor: null, remaining_ms: 0, next_ms: null })
  expect(arming(opened({ ...calm, needsEnd: true }, tick(a)))).toMatchObject({ waitsFor: 'end', remaining_ms: 0, next_ms: null })
})

it('never arms Allow within its wait of anything that starts it again, whatever happens', () => {
  let seed = 3
  const next = (n: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
  const types = ['focus', 'blur', 'visible', 'hidden', 'input', 'end-shown', 'step', 'step-back', 'released', 'tick', 'content'] as const
  for (let round = 0; round < 400; round++) {
    let state = initialArming(0)
    let [at, since, input, focused, visible, step] = [0, 0, 0, false, false, false]
    let content: Content = { ...calm, key: 'start' }
    state = nextArming(state, { type: 'content', at, content })
    for (let i = 0; i < 40; i++) {
      at += next(900)
      const type = types[next(types.length)] ?? 'tick'
      const before = arming(nextArming(state, { type: 'tick', at }))
      if (type === 'content') {
        content = { ...calm, key: String(next(3)), highRisk: next(2) === 0 }
        const was = state
        state = nextArming(state, { type, at, content })
        if (state.run !== was.run) [since, step] = [at, false]
      } else {
        const was = state
        state = nextArming(state, { type, at })
        if (type === 'focus') focused = true
        if (type === 'blur') focused = false
        if (type === 'visible') visible = true
        if (type === 'hidden') visible = false
        if (type === 'input') input = at
        if (type === 'step' && state.run !== was.run) step = true
        if (type === 'step-back') step = false
        if (['focus', 'blur', 'visible', 'hidden', 'released'].includes(type) && state.run !== was.run) [since, step] = [at, false]
      }
      const now = arming(state)
      if (now.allow !== 'waiting') {
        expect(focused && visible).toBe(true)
        expect(at - since).toBeGreaterThanOrEqual(content.highRisk ? riskVisible : allowVisible)
        expect(at - input).toBeGreaterThanOrEqual(inputPause)
        if (content.highRisk && now.allow === 'armed') expect(step).toBe(true)
      }
      if (now.deny === 'armed') expect(focused && visible && at - since >= denyVisible).toBe(true)
      // What arms by time alone was announced.
      if (type === 'tick' && before.next_ms !== null) expect(before.next_ms).toBeGreaterThan(0)
    }
  }
})
