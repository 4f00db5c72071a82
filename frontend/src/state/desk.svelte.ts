// The reactive store: what the pages show and what they may do. The core's snapshot is the only truth; this class shows
// what came of it, asks for more, and sends the owner's acts.
import { Answers, type Answer } from '../wire/answers'
import { BrowserTransport, keyProtocol, wireAddress } from '../wire/browser'
import { Client, wireError, type WireError } from '../wire/client'
import type { Transport } from '../wire/transport'
import type {
  Actions, AppStatus, Call, Changes, DeskPause, Link, Preferences, Question, Receipt, Session, Status, Verification,
} from '../wire/types.gen'
import { boundIn, readAppStatus, WindowTransport } from '../wire/window'
import { has, setDesktopLanguage, setLanguage } from '../text/i18n'
import { untrack } from 'svelte'
import { SvelteMap } from 'svelte/reactivity'
import { pageHidden, untilTick } from './clock'
import { Drafts } from './drafts'
import { noFeed, putQuestion, withPause, type Feed, type Taken } from './feed'
import { Follower } from './follow'
import { listedReceipts } from './sync'
import { isPage, type Connection, type Notice, type Page, type Pending } from './types'

export type { Connection, Notice, Page, Pending } from './types'

/** How many notices are kept; older ones were read, or will not be. */
export const keptNotices = 20
/** How long receipts gather before the list is asked for again, in ms. */
export const receiptsPause = 500
/** The longest wait for which a denial that came too soon is sent again by itself, in ms. */
export const longestTooSoon = 1000

/** Refusals of what is the owner's alone. */
const ownersOnly: ReadonlySet<string> = new Set(['capability_denied', 'presence_required'])

/** How many answers are remembered with where they were given. */
export const keptAnswered = 200

/** Where a request was answered, as far as this page saw it: by itself, or anywhere else. */
export type AnsweredAt = 'here' | 'elsewhere'

/** An error beside what caused it. */
export interface Refusal {
  readonly code: string
  readonly args: Readonly<Record<string, string>>
}

export class Desk {
  kind: 'window' | 'browser' = $state('window')
  connection: Connection = $state('connecting')
  /** The version of the core, with connection 'other_version'. */
  otherVersion: string | null = $state(null)
  app: AppStatus | null = $state.raw(null)
  /** Why the last passphrase was not taken. */
  refusal: Refusal | null = $state.raw(null)
  verification: Verification | null = $state.raw(null)
  notices: readonly Notice[] = $state.raw([])
  now: number = $state(Date.now())
  selected: string | null = $state(null)
  page: Page = $state('inbox')
  /** The session, project or receipt that a link or a notification asked for. */
  target: string | null = $state(null)
  /** A receipt that was asked for by itself: the list holds only the newest. */
  receipt: Receipt | null = $state.raw(null)
  /** Notes that were begun. */
  readonly drafts = new Drafts()
  #feed: Feed = $state.raw(noFeed)
  #pending = new SvelteMap<string, 'sending' | 'unknown'>()
  #answered = new SvelteMap<string, AnsweredAt>()
  /** Answers whose own reply never came: what closed their question may have been another one. */
  #doubtful = new Set<string>()

  #client: Client | null = null
  #follower: Follower | null = null
  #answers: Answers | null = null
  #window: WindowTransport | null = null
  #shown = new Set<string>()
  /** The card that was shown last: told again after a new connection, if it still is the selected one. */
  #inFront: { readonly id: string; readonly version: number } | null = null
  #noticeID = 0
  #clock: ReturnType<typeof setTimeout> | null = null
  #receipts: ReturnType<typeof setTimeout> | null = null
  #started = false

  /** Whether a snapshot was taken since the page was loaded. Before it nothing is known, also not that nothing waits. */
  get known(): boolean { return this.#feed.epoch !== '' }
  get status(): Status | null { return this.#feed.status }
  get questions(): readonly Question[] { return this.#feed.questions }
  get more(): number { return this.#feed.more }
  get closed(): ReadonlyMap<string, Question> { return this.#feed.closed }
  get recent(): readonly Call[] { return this.#feed.calls }
  get sessions(): readonly Session[] { return this.#feed.sessions }
  get receipts(): readonly Receipt[] { return this.#feed.receipts }
  get preferences(): Preferences { return this.#feed.preferences }
  get pause(): DeskPause { return this.#feed.pause }

  /** Whether this page speaks for the owner, so that its answers count. */
  get mayAnswer(): boolean { return this.connection === 'ready' && this.status?.unlocked === true }
  /** Whether the core answers this page, and lets it look but not answer. */
  get looksOnly(): boolean { return this.connection === 'ready' && this.status?.unlocked !== true }
  /** The selected question, open or closed meanwhile. */
  get card(): Question | null { return this.selected === null ? null : this.question(this.selected) }

  question(id: string): Question | null {
    return this.questions.find((one) => one.id === id) ?? this.closed.get(id) ?? null
  }

  pendingAnswer(id: string): Pending { return this.#pending.get(id) ?? null }
  /** null: this page did not see it. */
  answeredAt(id: string): AnsweredAt | null { return this.#answered.get(id) ?? null }
  /** The call that a question is about, if it is among the newest. */
  callOf(question: Question): Call | null { return this.recent.find((call) => call.id === question.call) ?? null }

  /** Begins to follow the core; once. A transport is given in tests, otherwise it is the window's or the browser's. */
  start(transport: Transport = ownTransport()): void {
    if (this.#started) return
    this.#started = true
    this.kind = transport.kind
    const client = new Client(transport)
    this.#client = client
    this.#answers = new Answers(client, (id, state) => {
      if (state === null) this.#pending.delete(id)
      else this.#pending.set(id, state)
      if (state === 'unknown') this.#doubtful.add(id)
    })
    this.#follower = new Follower(client, {
      feed: (feed) => this.#show(feed),
      taken: (taken) => this.#taken(taken),
      connection: (connection, status) => this.#connected(connection, status),
    })
    if (transport instanceof WindowTransport) {
      this.#window = transport
      transport.onApp((app) => { this.app = app; setDesktopLanguage(app.language) })
      transport.onWanted((wanted) => this.#navigate(wanted.page, wanted.question))
    }
    transport.start()
    if (this.#window !== null) void this.#askApp(this.#window)
    if (typeof document !== 'undefined') document.addEventListener('visibilitychange', this.#seen)
    this.#tick()
  }

  /** The page came into sight, or went out of it. */
  readonly #seen = (): void => { this.#tick() }

  stop(): void {
    if (typeof document !== 'undefined') document.removeEventListener('visibilitychange', this.#seen)
    this.#follower?.stop()
    this.#client?.transport.close()
    for (const timer of [this.#clock, this.#receipts]) if (timer !== null) clearTimeout(timer)
    this.#clock = this.#receipts = null
  }

  // What may be called from an effect reads without making that effect depend on what it read.

  /** Opens a card. null: none is open. */
  select(id: string | null): void {
    this.selected = id
    if (id !== null && untrack(() => this.question(id))?.detail === undefined) void this.#fetch(id)
  }

  go(page: Page, target: string | null = null): void {
    this.page = page
    this.target = target
    if (page === 'receipts') this.#receiptsSoon(0)
  }

  /** Tells the core that this version of a card is in front of the owner. Told once; again after a failure. */
  async shown(id: string, version: number): Promise<void> {
    const key = `${id} ${version}`
    this.#inFront = { id, version }
    if (!untrack(() => this.mayAnswer) || this.#shown.has(key)) return
    this.#shown.add(key)
    const result = await this.#try('question_shown', { id, version }, (error) => {
      this.#shown.delete(key)
      if (error.code === 'stale_version' || error.code === 'already_answered') void this.#fetch(id)
    })
    const question = this.question(id)
    if (result !== null && question?.version === version) this.#put({ ...question, shown_at: result.shown_at })
  }

  /** Whether the core took it as an allow. Whatever goes wrong is a notice, or the card's own end. */
  allow(question: Question, offer: number, comment = ''): Promise<boolean> {
    const args = { id: question.id, version: question.version, offer }
    return this.#answer({ action: 'question_reply', args: comment === '' ? args : { ...args, comment } }, 'allow')
  }

  deny(question: Question, comment = '', stopTurn = false): Promise<boolean> {
    const args = { id: question.id, version: question.version, stop_turn: stopTurn }
    return this.#answer({ action: 'question_reject', args: comment === '' ? args : { ...args, comment } }, 'deny')
  }

  async extend(question: Question): Promise<boolean> {
    const extended = await this.#try('extend_question', { id: question.id, version: question.version })
    if (extended !== null) this.#put(extended)
    return extended !== null
  }

  /** What the call would change; null when the core could not say, with a notice. */
  changes(question: Question): Promise<Changes | null> {
    return this.#try('get_changes', { question: question.id })
  }

  async pauseSession(session: string): Promise<boolean> { return await this.#try('pause_session', { session }) !== null }
  async resumeSession(session: string): Promise<boolean> { return await this.#try('resume_session', { session }) !== null }

  /** Opens the newest receipt of a call on its page. False: there is none, with a notice. */
  async openReceipt(call: string): Promise<boolean> {
    const list = await this.#try('list_receipts', { call, limit: 1 })
    if (list === null) return false
    const receipt = list.receipts?.[0]
    if (receipt === undefined) { this.notice('notice.no_receipt'); return false }
    this.receipt = receipt
    this.go('receipts', receipt.record.id)
    return true
  }

  /** For so many seconds; -1 until resumed, 0 resumes. */
  async pauseDesk(seconds: number): Promise<boolean> {
    const pause = await this.#try('pause_desk', { seconds })
    if (pause !== null) this.#follower?.change((feed) => withPause(feed, pause))
    return pause !== null
  }

  async testRequest(): Promise<boolean> { return await this.#try('test_request', {}) !== null }

  async setPreferences(wanted: Preferences): Promise<boolean> {
    const preferences = await this.#try('set_preferences', wanted)
    if (preferences !== null) this.#follower?.change((feed) => ({ ...feed, preferences }))
    return preferences !== null
  }

  async verify(): Promise<void> {
    this.verification = null
    this.verification = await this.#try('verify_receipts', {})
  }

  /** opens: the question that its button opens. */
  notice(key: string, args: Readonly<Record<string, string>> = {}, opens?: string): void {
    // The same again takes the place of the first: a page that opens links must not pile them up.
    const others = untrack(() => this.notices).filter((one) => one.key !== key || JSON.stringify(one.args) !== JSON.stringify(args))
    const notice: Notice = { id: ++this.#noticeID, key, args, ...(opens === undefined ? {} : { opens }) }
    this.notices = [...others, notice].slice(-keptNotices)
  }

  /** Opens what a notice is about; its button was pressed. */
  open(notice: Notice): void {
    this.dismiss(notice)
    if (notice.opens !== undefined) this.#navigate('inbox', notice.opens)
  }

  dismiss(notice: Notice): void { this.notices = untrack(() => this.notices).filter((one) => one.id !== notice.id) }

  /** Asks for an action that has no method here; an error becomes a notice and null. */
  ask<A extends keyof Actions>(action: A, args: Actions[A][0]): Promise<Actions[A][1] | null> { return this.#try(action, args) }

  /** Loads the page again, when the core is another version. */
  reload(): void { location.reload() }

  // The app's own actions, in the window only.
  async retry(): Promise<boolean> { return await this.#try('app_retry', {}) !== null }
  async takeOver(): Promise<boolean> { return await this.#try('app_take_over', {}) !== null }
  async quit(): Promise<boolean> { return await this.#try('app_quit', {}) !== null }
  async hide(): Promise<boolean> { return await this.#try('app_hide', {}) !== null }
  async testNotification(): Promise<boolean> { return await this.#try('app_test_notification', {}) !== null }
  /** null when the passphrase was taken, otherwise the refusal's code, with its arguments in refusal: it belongs beside the
   * field, not among the notices. */
  async unlock(passphrase: string): Promise<string | null> {
    const failed: Refusal[] = []
    await this.#try('app_unlock', { passphrase }, (error) => failed.push({ code: error.code, args: error.args }))
    this.refusal = failed[0] ?? null
    return failed[0]?.code ?? null
  }

  async #answer(answer: Answer, wanted: 'allow' | 'deny', again = true): Promise<boolean> {
    const { id } = answer.args
    if (this.#answers === null || (again && this.#pending.has(id))) return false
    try {
      const result = await this.#answers.send(answer)
      if (result.applied && !this.#doubtful.has(id)) this.#remember(id, 'here')
      if (this.question(id)?.state === 'open') void this.#fetch(id)
      return result.outcome === wanted
    } catch (thrown) {
      const error = wireError(thrown)
      const wait = Number(error.args['wait_ms'])
      // A denial that was merely quick is meant. An allow that was is not repeated: its card begins to wait again.
      if (again && wanted === 'deny' && error.code === 'too_soon' && wait >= 0 && wait <= longestTooSoon) {
        this.#pending.set(id, 'sending')
        await new Promise((resolve) => setTimeout(resolve, wait))
        this.#pending.delete(id)
        if (this.question(id)?.state !== 'open') return false
        return this.#answer(answer, wanted, false)
      }
      this.#pending.delete(id)
      if (error.code === 'already_answered') this.#remember(id, 'elsewhere')
      if (error.code === 'not_shown') this.#shown.delete(`${id} ${answer.args.version}`)
      this.#fail(error)
      void this.#fetch(id)
      return false
    }
  }

  #remember(id: string, at: AnsweredAt): void {
    this.#answered.set(id, at)
    for (const oldest of this.#answered.keys()) {
      if (this.#answered.size <= keptAnswered) break
      this.#answered.delete(oldest)
    }
  }

  async #try<A extends keyof Actions>(action: A, args: Actions[A][0], failed = (error: WireError): unknown => this.#fail(error)): Promise<Actions[A][1] | null> {
    if (this.#client === null) return null
    try {
      return await this.#client.call(action, args)
    } catch (thrown) {
      failed(wireError(thrown))
      return null
    }
  }

  #fail(error: WireError): void {
    const key = `error.${error.code}`
    // A browser that only looks is told what would help, whatever it tried.
    if (ownersOnly.has(error.code) && this.looksOnly) this.notice('blocked.look_only')
    else if (has(key)) this.notice(key, error.args)
    else this.notice('error.unknown', { ...error.args, code: error.code })
  }

  #put(question: Question): void { this.#follower?.change((feed) => putQuestion(feed, question)) }

  /** Asks for one question as it stands: its detail, or how it ended. */
  async #fetch(id: string): Promise<Question | null> {
    const question = await this.#try('get_question', { id }, () => undefined)
    if (question === null) return null
    this.#put(question)
    if (question.state !== 'open') this.#answers?.closed(question)
    return question
  }

  #show(feed: Feed): void {
    if (feed.preferences !== untrack(() => this.#feed).preferences) setLanguage(feed.preferences.language)
    this.#feed = feed
    this.drafts.only(feed.questions.map((one) => one.id))
    this.#tick()
  }

  #connected(connection: Connection, status: Status | null): void {
    this.connection = connection
    this.otherVersion = connection === 'other_version' ? status?.version ?? '' : null
    if (connection !== 'ready') return
    this.#shown.clear()
    if (this.#inFront !== null && this.#inFront.id === this.selected && !pageHidden()) void this.shown(this.#inFront.id, this.#inFront.version)
    this.#answers?.restored()
    // What the snapshot does not tell: how questions ended that this page still shows or answers.
    const unknown = [...this.closed.values()].filter((one) => (one.outcome ?? '') === '').map((one) => one.id)
    const card = this.card !== null && this.card.detail === undefined ? [this.card.id] : []
    for (const id of new Set([...unknown, ...card, ...(this.#answers?.waiting() ?? [])])) void this.#fetch(id)
  }

  #taken(taken: Taken): void {
    switch (taken.kind) {
      case 'closed':
        this.#closed(taken.question)
        this.#answers?.closed(taken.question)
        if (this.more > 0) void this.#refill()
        return
      case 'receipts':
        this.#receiptsSoon(receiptsPause)
        return
      case 'link':
        this.#follow(taken.link)
    }
  }

  /** A question was closed in front of this page. While this page answers nothing, the answer came from elsewhere; an answer
   * of its own may close others with it. */
  #closed(question: Question): void {
    const answered = question.outcome === 'allow' || question.outcome === 'deny'
    if (answered && !this.#answered.has(question.id) && this.#answers?.waiting().length === 0) this.#remember(question.id, 'elsewhere')
  }

  /** Fills the list up when some did not fit. */
  async #refill(): Promise<void> {
    const list = await this.#try('list_questions', {}, () => undefined)
    if (list === null || this.#follower === null || list.epoch !== this.#follower.feed.epoch) return
    this.#follower.change((feed) => ({ ...(list.questions ?? []).reduce((next, question) => putQuestion(next, question), feed), more: list.more ?? 0 }))
  }

  #receiptsSoon(ms: number): void {
    if (this.#receipts !== null) clearTimeout(this.#receipts)
    this.#receipts = setTimeout(() => {
      this.#receipts = null
      void this.#try('list_receipts', { limit: listedReceipts }, () => undefined).then((list) => {
        if (list !== null) this.#follower?.change((feed) => ({ ...feed, receipts: list.receipts ?? [] }))
      })
    }, ms)
  }

  /** A link only navigates, and never puts another card where one waits for an answer: whatever opens links could do that under
   * a hand that is about to press. A browser beside a window leaves it to the window. */
  #follow(link: Link): void {
    if (this.kind === 'browser' && this.status?.window === true) return
    const id = link.id ?? ''
    switch (link.kind) {
      case 'approval':
        if (this.card?.state === 'open' && this.card.id !== id) return this.notice('notice.other_request', {}, id)
        return this.#navigate('inbox', id)
      case 'session': return this.go('sessions', id)
      case 'project': return this.go('projects', id)
      case 'receipt': return this.go('receipts', id)
      case '': return
    }
    this.notice('notice.link_unknown')
  }

  #navigate(page: string, question: string): void {
    if (page === 'quit') this.go('settings', page)
    else if (isPage(page)) this.go(page)
    else if (question !== '') this.go('inbox')
    if (question !== '') this.select(question)
  }

  async #askApp(window: WindowTransport): Promise<void> {
    const app = await this.#try('app_status', {})
    const read = readAppStatus(app as Readonly<Record<string, unknown>> | null)
    if (read !== null) window.phase(read)
  }

  #tick(): void {
    if (this.#clock !== null) clearTimeout(this.#clock)
    const now = Date.now()
    this.now = now
    this.#clock = pageHidden() ? null : setTimeout(() => this.#tick(), untrack(() => untilTick(this.questions, this.pause, now)))
  }
}

function ownTransport(): Transport {
  const bound = boundIn(window)
  if (bound !== null) return new WindowTransport(bound)
  const protocol = keyProtocol({ location, history, storage: localStorage })
  return new BrowserTransport({ open: () => new WebSocket(wireAddress(location), [protocol]) })
}

export const desk = new Desk()
