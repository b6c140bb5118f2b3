// What the tabs of a session do, as long as somebody looks: both lists of one tab, followed by the node's long poll.
// Where it ended it goes on, and it says what hinders it.

import { effect, type Signal, signal } from '@preact/signals'
import { pause } from '../../../shared/pause.ts'
import { type Details, detailsOf, noDetails } from '../../../shared/tab/details.ts'
import { asksLines, asksRequests, follow, type TabNode } from '../../../shared/tab/follow.ts'
import { heir } from '../../../shared/tab/heir.ts'
import { type Answer, List } from '../../../shared/tab/list.ts'
import type { Keyed, Line, Request } from '../../../shared/tab/shown.ts'
import type { Schemas } from '../node/client.ts'
import type { Failure } from '../node/failure.ts'

export type Tab = Schemas['DebugTab']

/** How many lines, and how many requests, are kept. */
export const MOST = 10_000
/** How often the tabs are listed for their titles and addresses, at most. */
const TABS_MS = 1_000
/** The first and the longest pause before the node is asked again. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

/** How it stands with what is looked at. */
export type Standing =
  | { is: 'asking' }
  | { is: 'live' }
  /** The browser of the tab is not connected. */
  | { is: 'offline' }
  /** There is no tab to look into. */
  | { is: 'none' }
  /** The tab is closed, or no longer recorded: what it told is kept. */
  | { is: 'gone' }
  | { is: 'failed'; why: Failure }

/** One list, in order. */
export interface Rows<T> {
  items: readonly T[]
  /** What is missing, in a sentence; empty when nothing is. */
  missing: string
}

/** The node, for who looks into tabs. */
export interface LookNode extends TabNode {
  tabs(signal: AbortSignal): Promise<Tab[]>
  request(token: string, key: number): Promise<Schemas['NetworkRequest'] | undefined>
  /** Whatever a question failed with. */
  heard(error: unknown): Failure
  /** Another number once the tabs are others. */
  readonly changed: Signal<number>
}

/** A list, and what of it is shown. */
class Shown<T extends Keyed> {
  readonly rows = signal<Rows<T>>({ items: [], missing: '' })
  private list: List<T>

  constructor(private readonly noun: string) {
    this.list = new List<T>(noun, MOST)
  }

  get cursor(): number | undefined {
    return this.list.cursor
  }

  take(answer: Answer<T>): void {
    const { anew, missing } = this.list.take(answer)
    if (anew || answer.items.length > 0 || missing !== this.rows.peek().missing) this.show()
  }

  clear(): void {
    this.list.clear()
    this.show()
  }

  forget(): void {
    this.list = new List<T>(this.noun, MOST)
    this.show()
  }

  private show(): void {
    const { put, missing } = this.list.whole()
    this.rows.value = { items: put, missing }
  }
}

/** The tabs of a session, and one that is looked into. */
export class Look {
  /** The tabs that can be looked into, newest first; none before they are known. */
  readonly tabs = signal<readonly Tab[] | undefined>(undefined)
  readonly tab = signal<Tab | undefined>(undefined)
  readonly standing = signal<Standing>({ is: 'asking' })
  readonly lines = new Shown<Line>('lines')
  readonly requests = new Shown<Request>('requests')
  private running: AbortController | undefined
  private listing: ReturnType<typeof setTimeout> | undefined
  private next = FIRST_PAUSE_MS

  constructor(
    private readonly session: string,
    private readonly node: LookNode,
  ) {}

  /** Asks from where it ended; what is asked for already is asked for once. */
  start(): void {
    if (this.running !== undefined) return
    const running = new AbortController()
    this.running = running
    const { signal } = running
    const before = this.node.changed.peek()
    const dispose = effect(() => {
      if (this.node.changed.value !== before) this.listSoon(signal)
    })
    signal.addEventListener('abort', dispose)
    void this.run(signal)
  }

  /** Asks for nothing more. */
  stop(): void {
    clearTimeout(this.listing)
    this.listing = undefined
    this.running?.abort()
    this.running = undefined
  }

  /** Looks into another tab. */
  choose(tab: Tab): void {
    if (tab.token === this.tab.peek()?.token) return
    const wasRunning = this.running !== undefined
    this.stop()
    this.become(tab)
    if (wasRunning) this.start()
  }

  /** All of one request, or why it is not shown. */
  async details(key: number): Promise<Details> {
    const token = this.tab.peek()?.token ?? ''
    try {
      const found = await this.node.request(token, key)
      return found === undefined ? noDetails(key, 'The node no longer keeps this request') : detailsOf(found)
    } catch (error) {
      const { message, hint } = this.node.heard(error)
      return noDetails(key, hint === undefined ? message : `${message}. What to do: ${hint}`)
    }
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const before = this.node.changed.peek()
        const tab = await this.find(signal)
        if (tab === undefined) await this.news(before, signal)
        else await this.both(tab, signal)
      } catch (error) {
        if (signal.aborted) return
        const why = this.node.heard(error)
        // Where another tab stands in its place, that is found at once.
        if (why.code !== 'tab_gone') this.standing.value = { is: 'failed', why }
        await this.rest(signal)
      }
    }
  }

  /** The tab that was chosen, or the one in its place; else the newest. */
  private async find(signal: AbortSignal): Promise<Tab | undefined> {
    const tabs = await this.list(signal)
    const chosen = this.tab.peek()
    const found = chosen === undefined ? tabs[0] : heir([...tabs], chosen)
    if (found === undefined) this.standing.value = { is: chosen === undefined ? 'none' : 'gone' }
    else if (found.token !== chosen?.token) this.become(found)
    return found
  }

  private async list(signal: AbortSignal): Promise<readonly Tab[]> {
    const all = await this.node.tabs(signal)
    signal.throwIfAborted()
    this.tabs.value = all.filter((tab) => tab.cocoon_id === this.session)
    return this.tabs.value
  }

  /** Follows both lists until one of them fails. */
  private async both(tab: Tab, signal: AbortSignal): Promise<void> {
    const end = new AbortController()
    const either = AbortSignal.any([signal, end.signal])
    const took = () => {
      this.next = FIRST_PAUSE_MS
      this.standing.value = { is: this.tab.peek()?.offline === true ? 'offline' : 'live' }
    }
    const takes =
      <T extends Keyed>(shown: Shown<T>) =>
      (answer: Answer<T>) => {
        shown.take(answer)
        took()
        if (answer.items.length > 0) this.listSoon(signal)
      }
    const { node, lines, requests } = this
    try {
      await Promise.all([
        follow(asksLines(node, tab.token, MOST), lines.cursor, takes(lines), either),
        follow(asksRequests(node, tab.token, MOST), requests.cursor, takes(requests), either),
      ])
    } finally {
      end.abort()
    }
  }

  /** Lists the tabs a while from now: their titles and addresses come with no list of theirs. */
  private listSoon(signal: AbortSignal): void {
    if (signal.aborted) return
    this.listing ??= setTimeout(() => {
      this.listing = undefined
      const found = this.list(signal).then((tabs) => {
        const same = tabs.find((tab) => tab.token === this.tab.peek()?.token)
        if (same !== undefined) this.tab.value = same
      })
      // Whoever follows the lists meets the same failure, and says it.
      found.catch(() => undefined)
    }, TABS_MS)
  }

  /** Waits until the tabs are others. */
  private async news(before: number, signal: AbortSignal): Promise<void> {
    let dispose: (() => void) | undefined
    const news = new Promise<void>((found, ended) => {
      signal.addEventListener('abort', () => ended(signal.reason), { once: true })
      dispose = effect(() => {
        if (this.node.changed.value !== before) found()
      })
    })
    await news.finally(() => dispose?.())
  }

  private async rest(signal: AbortSignal): Promise<void> {
    const wait = this.next
    this.next = Math.min(wait * 2, LONGEST_PAUSE_MS)
    await pause(wait, signal).catch(() => undefined)
  }

  private become(tab: Tab): void {
    this.tab.value = tab
    this.standing.value = { is: 'asking' }
    this.lines.forget()
    this.requests.forget()
  }
}
