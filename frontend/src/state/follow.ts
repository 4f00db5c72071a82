// Following the core: the connection's ups and downs, snapshots, and the frames in between. It owns the feed; the store
// shows it.
import { wireError, type Client } from '../wire/client'
import type { Frame, Status } from '../wire/types.gen'
import { noFeed, takeFrame, type Feed, type Taken } from './feed'
import { begin, checkVersion, takeSnapshot } from './sync'
import type { Connection } from './types'

/** The first pause after a snapshot that could not be taken, and the longest, in ms. */
export const firstPause = 500
export const longestPause = 8000
/** How many snapshots are taken in a row without a pause because of a gap. */
export const gapsAtOnce = 3
/** How many frames are kept while a snapshot is taken. Beyond, the snapshot is taken again. */
export const keptFrames = 5000

/** Errors after which the transport says when to go on. */
const waitForTransport: ReadonlySet<string> = new Set(['not_connected', 'no_core'])

export interface Followed {
  feed(feed: Feed): void
  taken(taken: Taken): void
  /** With other_version the status of the core that answers. */
  connection(connection: Connection, status: Status | null): void
}

export class Follower {
  feed: Feed = noFeed
  malformed = 0
  #client: Client
  #followed: Followed
  #connection: Connection = 'connecting'
  #loadedFrom: string | null = null
  /** Counts the attempts: what an older one still brings is passed over. */
  #attempt = 0
  #kept: Frame[] | null = null
  #overflow = false
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(client: Client, followed: Followed) {
    this.#client = client
    this.#followed = followed
    client.transport.onFrame((frame) => this.#frame(frame))
    client.transport.onLost(() => this.#lost())
    client.transport.onRestored(() => { void this.sync() })
  }

  /** Changes the feed by something that was asked for. */
  change(to: (feed: Feed) => Feed): void {
    this.feed = to(this.feed)
    this.#followed.feed(this.feed)
  }

  stop(): void {
    this.#attempt++
    this.#wait(null)
  }

  /** Takes a new snapshot and follows from there, until it works or the transport is lost. */
  async sync(): Promise<void> {
    if (this.#connection === 'other_version') return
    const attempt = ++this.#attempt
    this.#wait(null)
    let pause = firstPause
    for (let gaps = 0; attempt === this.#attempt;) {
      try {
        const done = await this.#once(attempt)
        if (done || attempt !== this.#attempt) return
        if (++gaps < gapsAtOnce) continue
      } catch (thrown) {
        if (attempt !== this.#attempt) return
        this.#to('lost', null)
        if (waitForTransport.has(wireError(thrown).code)) return
      }
      await new Promise<void>((resolve) => this.#wait(resolve, pause))
      pause = Math.min(pause * 2, longestPause)
    }
  }

  /** One snapshot. False: there was a gap, so another one is needed. */
  async #once(attempt: number): Promise<boolean> {
    this.#kept = []
    this.#overflow = false
    const checked = await checkVersion(this.#client, this.#loadedFrom)
    if (attempt !== this.#attempt) return true
    if (checked.kind === 'other_version') {
      this.#to('other_version', checked.status)
      return true
    }
    this.#loadedFrom = checked.status.version
    const snapshot = await takeSnapshot(this.#client)
    if (attempt !== this.#attempt) return true
    const { feed, taken, gap } = begin(this.feed, snapshot, this.#kept)
    if (gap || this.#overflow) return false
    this.#kept = null
    this.change(() => feed)
    for (const one of taken) this.#tell(one)
    this.#to('ready', snapshot.status)
    return true
  }

  #frame(frame: Frame): void {
    if (this.#connection === 'other_version') return
    if (this.#kept !== null) {
      if (this.#kept.length < keptFrames) this.#kept.push(frame)
      else this.#overflow = true
      return
    }
    const { feed, taken } = takeFrame(this.feed, frame)
    if (feed !== this.feed) this.change(() => feed)
    if (taken.kind === 'gap') void this.sync()
    else this.#tell(taken)
  }

  #tell(taken: Taken): void {
    if (taken.kind === 'malformed') this.malformed++
    this.#followed.taken(taken)
  }

  #lost(): void {
    this.#attempt++
    this.#wait(null)
    this.#kept = []
    if (this.#connection !== 'other_version') this.#to('lost', null)
  }

  #to(connection: Connection, status: Status | null): void {
    this.#connection = connection
    this.#followed.connection(connection, status)
  }

  #wait(act: (() => void) | null, ms = 0): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = act === null ? null : setTimeout(act, ms)
  }
}
