// The conditions that every page has to know of, worst first. Each is a line with at most one way out.
import type { ShapeName } from '../look/Shape.svelte'
import type { AppStatus, DeskPause, Status } from '../wire/types.gen'

export type BannerAct = 'resume' | 'reload' | 'dismiss' | null
export interface Banner { readonly id: string; readonly key: string; readonly args: Readonly<Record<string, string>>; readonly shape: ShapeName; readonly tone: 'poor' | 'care' | ''; readonly act: BannerAct }

export interface Conditions {
  readonly browser: boolean // a page of a browser, which a core knows by a link of its own run
  readonly connection: 'connecting' | 'ready' | 'lost' | 'other_version'
  readonly otherVersion: string | null
  readonly app: AppStatus | null
  readonly status: Status | null
  readonly pause: DeskPause
  readonly mayAnswer: boolean
  readonly until: string // the pause's end as a time of day, '' for none
  readonly dismissed: ReadonlySet<string> // ids that the owner has read and put away
}

/** Codes of a part that is on its way, or ends with the app: nothing to tell anybody. */
const passing: readonly string[] = ['tray_starting', 'tray_closed', 'notifications_starting']
/** What is said about a tray that is not there, by its code; of any other there is just none. */
const trayWords: Readonly<Record<string, string>> = { tray_missing: 'tray_missing', tray_failed: 'tray_failed', tray_unsupported: 'tray_unsupported' }

/** The parts of the desktop that are missing. Only the window has them; a demo desk has no tray on purpose. */
function missingParts(app: AppStatus): string[] {
  const lacks = (part: AppStatus['tray']): boolean => !part.available && !passing.includes(part.code ?? '')
  const list: string[] = []
  if (!app.demo && lacks(app.tray)) list.push(trayWords[app.tray.code ?? ''] ?? 'no_tray')
  if (!lacks(app.notifications)) return list
  if (app.notifications.code === 'notifications_not_allowed') list.push('notices_not_allowed')
  else list.push(app.tray.available ? 'no_notices' : 'no_notices_no_tray')
  return list
}

export function banners(c: Conditions): Banner[] {
  const list: Banner[] = []
  const add = (id: string, tone: Banner['tone'], shape: ShapeName, args: Record<string, string> = {}, act: BannerAct = null): void => {
    list.push({ id, key: `banner.${id}`, args, shape, tone, act })
  }
  if (c.connection === 'other_version') add('other_version', 'poor', 'triangle', { version: c.otherVersion ?? '?' }, 'reload')
  if (c.connection === 'lost') add(c.browser ? 'lost_browser' : 'lost', 'poor', 'triangle')
  if (c.connection === 'connecting') add('connecting', '', 'ring')
  if (c.status?.read_only === true) add('read_only', 'poor', 'triangle')
  if (c.pause.paused) add(c.until === '' ? 'paused' : 'paused_until', 'care', 'bars', { until: c.until }, 'resume')
  if (c.connection === 'ready' && !c.mayAnswer) add('look_only', 'care', 'ring')
  for (const problem of c.status?.problems ?? []) {
    if (problem.code === 'source_unreadable') add('source_unreadable', 'care', 'triangle', problem.args ?? {})
  }
  if (c.app !== null && c.app.demo) add('demo', '', 'ring')
  for (const part of c.app === null ? [] : missingParts(c.app)) {
    if (!c.dismissed.has(part)) add(part, '', 'ring', {}, 'dismiss')
  }
  return list
}
