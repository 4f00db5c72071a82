// What a fault of the app is called, and what a person can do about it.
import { escapeText } from '../text/escape'
import { has, t } from '../text/i18n'
import type { Fault } from '../wire/types.gen'

export interface FaultWords { readonly title: string; readonly todo: string; readonly detail: string }

/** A code without words of its own is named, so that it can be looked up. */
export function faultWords(fault: Fault): FaultWords {
  const args = fault.args ?? {}
  const known = has(`fault.${fault.code}`)
  const detail = [args['detail'], args['problem'], args['path']].filter((d) => d !== undefined && d !== '').join(' · ')
  return {
    title: known ? t(`fault.${fault.code}`, args) : t('fault.other', { code: fault.code }),
    todo: has(`fault.${fault.code}.todo`) ? t(`fault.${fault.code}.todo`, args) : args['hint'] ? escapeText(args['hint']) : t('fault.other.todo'),
    detail: escapeText(detail),
  }
}
