// Why a button that changes something does nothing here, and what would help; undefined where it does. For its title, which
// is its description too.
import { desk } from '../state/desk.svelte'
import { t } from '../text/i18n'

export function blocked(): string | undefined {
  if (desk.mayAnswer) return undefined
  if (desk.looksOnly) return t('blocked.look_only')
  return t('blocked.not_connected')
}
