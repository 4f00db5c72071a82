// This file must fail the type check. scripts/canary.mjs runs the check on it and fails when it passes: a type check that
// finds nothing here is switched off, or looks at other files than we think.
import type { Question } from '../src/wire/types.gen'

export function wrong(question: Question, list: string[]): number {
  const id: number = question.id
  const first: string = list[0]
  const anything = JSON.parse('1') as never
  return id + first.length + anything
}
