// Watches one tab: asks for both lists as long as somebody looks, says what hinders it, and goes on by itself.

import { setTimeout as pause } from 'node:timers/promises'
import { type Failure, failureOf } from '../node/failure.ts'
import { ask, type Node, type Schemas } from '../node/node.ts'
import { type Source, wayBack } from './back.ts'
import { type Details, detailsOf, noDetails } from './details.ts'
import { asksLines, asksRequests, follow } from './follow.ts'
import { List } from './list.ts'
import type { Name, Told } from './messages.ts'
import type { Line, Request } from './shown.ts'
import { answered, BEGINNING, failed, type Standing, shown } from './state.ts'

type Tab = Schemas['DebugTab']

/** How often the tab's title and address are looked at, at most: they come with no list. */
const FACTS_MS = 2_000
/** The first and the longest pause before the node is asked again. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/** One tab that is looked into. */
export class Watch {
  private lines = new List<Line>('lines')
  private requests = new List<Request>('requests')
  private standing: Standing = BEGINNING
  private running: AbortController | undefined
  private pause = FIRST_PAUSE_MS
  private factsAt = 0

  constructor(
    private readonly source: Source,
    private current: Tab,
    private readonly tell: (told: Told) => void,
  ) {}

  get tab(): Tab {
    return this.current
  }

  /** What the button beside the state runs. */
  get remedy() {
    return this.standing.remedy
  }

  /** Asks from where it ended; what is asked for already is asked for once. */
  start(): void {
    if (this.running !== undefined) return
    this.running = new AbortController()
    void this.run(this.running.signal)
  }

  /** Asks for nothing more. */
  stop(): void {
    this.running?.abort()
    this.running = undefined
  }

  /** Tells all that is known, for a page that is new. */
  whole(): void {
    this.tellTab()
    this.tell({ tell: 'console', change: this.lines.whole() })
    this.tell({ tell: 'network', change: this.requests.whole() })
  }

  /** Drops what a list shows. */
  clear(name: Name): void {
    if (name === 'console') this.tell({ tell: 'console', change: this.lines.clear() })
    else this.tell({ tell: 'network', change: this.requests.clear() })
  }

  /** The address of a request that is shown. */
  addressOf(key: number): string | undefined {
    return this.requests.get(key)?.address
  }

  /** Asks for all of one request. */
  async details(key: number): Promise<void> {
    this.tell({ tell: 'details', details: await this.askDetails(key) })
  }

  private async askDetails(key: number): Promise<Details> {
    try {
      const { api } = await this.source.node()
      const params = { path: { token: this.current.token } }
      const body = { id: String(key), bodies: true }
      const { requests } = await ask(api.POST('/debug/tabs/{token}/network', { params, body }))
      const found = requests.find((request) => request.number === key)
      return found === undefined ? noDetails(key, 'The node no longer keeps this request') : detailsOf(found)
    } catch (error) {
      return noDetails(key, failureOf(error).text)
    }
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.both(await this.source.node(), signal)
      } catch (error) {
        if (signal.aborted) return
        const failure = failureOf(error)
        this.stand(failed(failure))
        await this.goOn(failure, signal).catch(() => undefined)
      }
    }
  }

  /** Follows both lists until one of them fails. */
  private async both(node: Node, signal: AbortSignal): Promise<void> {
    const end = new AbortController()
    const either = AbortSignal.any([signal, end.signal])
    const { token } = this.current
    const tell = <T>(told: (answer: T) => void) => {
      return (answer: T) => {
        this.pause = FIRST_PAUSE_MS
        told(answer)
        this.stand(answered(this.current))
        void this.look(node, either)
      }
    }
    const [lines, requests] = [this.lines, this.requests]
    try {
      await Promise.all([
        follow(
          asksLines(node, token),
          lines.cursor,
          tell((answer) => this.tell({ tell: 'console', change: lines.take(answer) })),
          either,
        ),
        follow(
          asksRequests(node, token),
          requests.cursor,
          tell((answer) => this.tell({ tell: 'network', change: requests.take(answer) })),
          either,
        ),
      ])
    } finally {
      end.abort()
    }
  }

  /** Looks at title and address, a while after something came. */
  private async look(node: Node, signal: AbortSignal): Promise<void> {
    if (this.factsAt > Date.now()) return
    this.factsAt = Date.now() + FACTS_MS
    try {
      await pause(FACTS_MS / 2, undefined, { signal })
      const { tabs } = await ask(node.api.GET('/debug/tabs', { signal }))
      const tab = tabs.find((tab) => tab.token === this.current.token)
      if (tab === undefined || signal.aborted) return
      this.current = tab
      this.stand(answered(tab))
    } catch {
      // Whoever follows the lists meets the same failure, and says it.
    }
  }

  /** Waits until there may be an answer again, of this tab or of the one that stands in its place by then. */
  private async goOn(failure: Failure, signal: AbortSignal): Promise<void> {
    const tab = await wayBack(this.source, this.current, failure, signal)
    await pause(this.pause, undefined, { signal })
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS)
    const isOther = tab.token !== this.current.token
    this.current = tab
    if (!isOther) return
    this.lines = new List('lines')
    this.requests = new List('requests')
    this.whole()
  }

  private stand(standing: Standing): void {
    this.standing = standing
    this.tellTab()
  }

  private tellTab(): void {
    this.tell({ tell: 'tab', tab: shown(this.current, this.standing) })
  }
}
