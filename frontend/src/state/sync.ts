// Taking a snapshot: subscribe first, then every list, and the frames that came meanwhile after them. A pure order of calls;
// who keeps the result is the store.
import { WireError, type Client } from '../wire/client'
import type { Frame, Preferences, Receipt, Status } from '../wire/types.gen'
import { wireVersion } from '../wire/types.gen'
import { fromSnapshot, takeFrame, type Feed, type Snapshot, type Taken } from './feed'

/** How many receipts and calls a snapshot holds; more are asked for by their page. */
export const listedReceipts = 200
export const listedCalls = 200

export type Checked = { readonly kind: 'same'; readonly status: Status } | { readonly kind: 'other_version'; readonly status: Status }

/** Whether this page may speak with the core that answers: the same wire, and the program the page was loaded from. */
export async function checkVersion(client: Client, loadedFrom: string | null): Promise<Checked> {
  const status = await client.call('status', {})
  const same = status.wire === wireVersion && (loadedFrom === null || status.version === loadedFrom)
  return { kind: same ? 'same' : 'other_version', status }
}

/** What a refusal leaves empty: these lists are not needed to answer. */
async function orElse<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asked
  } catch (thrown) {
    if (thrown instanceof WireError && !thrown.unknown && thrown.code !== 'not_connected') return otherwise
    throw thrown
  }
}

/** Takes a snapshot. Frames must be kept by the caller from before this is called. */
export async function takeSnapshot(client: Client): Promise<Snapshot> {
  const subscribed = await client.call('subscribe', {})
  // The status again, because a pause may have begun between the first one and the subscription.
  const [status, questions, sessions, calls, receipts, preferences] = await Promise.all([
    client.call('status', {}),
    client.call('list_questions', {}),
    client.call('list_sessions', {}),
    client.call('list_calls', { limit: listedCalls }),
    orElse<readonly Receipt[]>(client.call('list_receipts', { limit: listedReceipts }).then((list) => list.receipts ?? []), []),
    orElse<Preferences | null>(client.call('get_preferences', {}), null),
  ])
  return { subscribed, status, questions, sessions, calls, receipts, preferences }
}

/** The feed after a snapshot and the frames kept meanwhile. gap: one is missing between them, take another snapshot. Frames
 * of another run of the core, from before the subscription, are passed over. */
export function begin(before: Feed, snapshot: Snapshot, kept: readonly Frame[]): { readonly feed: Feed; readonly taken: readonly Taken[]; readonly gap: boolean } {
  const epoch = snapshot.subscribed.epoch
  let gap = [snapshot.questions, snapshot.sessions, snapshot.calls].some((list) => list.epoch !== epoch)
  let feed = fromSnapshot(before, snapshot)
  const all: Taken[] = []
  for (const frame of kept) {
    if (frame.epoch !== epoch) continue
    const { feed: next, taken } = takeFrame(feed, frame)
    gap ||= taken.kind === 'gap'
    feed = next
    all.push(taken)
  }
  return { feed, taken: all, gap }
}
