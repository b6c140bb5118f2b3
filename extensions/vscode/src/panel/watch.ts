// Watches one tab: asks for both lists as long as somebody looks, says what hinders it, and goes on by itself.

import { setTimeout as pause } from 'node:timers/promises'
import { type Details, detailsOf, noDetails } from '../../../shared/tab/details.ts'
import { asksLines, asksRequests, follow, type TabNode } from '../../../shared/tab/follow.ts'
import { type Answer, List } from '../../../shared/tab/list.ts'
import type { Line, Request } from '../../../shared/tab/shown.ts'
import { type Failure, failureOf } from '../node/failure.ts'
import { ask, type Schemas } from '../node/node.ts'
import { heirOf, online, Patience, type Source } from './back.ts'
import { MOST, type Name, type Told } from './messages.ts'
import { answered, BEGINNING, failed, type Standing, shown } from './state.ts'

type Tab = Schemas['DebugTab']

/** How often the tab's title and address are looked at, at most: they come with no list. */
const FACTS_MS = 2_000
/** One tab that is looked into. */
export class Watch {
  private lines = new List<Line>('lines', MOST)
  private requests = new List<Request>('requests', MOST)
  private standing: Standing = BEGINNING
  private running: AbortController | undefined
  private readonly patience = new Patience()
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
    let isGone = false
    while (!signal.aborted) {
      try {
        if (isGone) this.become(await heirOf(this.source, this.current, signal))
        await this.both(signal)
      } catch (error) {
        if (signal.aborted) return
        const failure = failureOf(error)
        this.stand(failed(failure))
        isGone = failure.code === 'tab_gone'
        if (isGone) this.source.lookSoon()
        else await this.goOn(failure, signal).catch(() => undefined)
      }
    }
  }

  /** Follows both lists until one of them fails. */
  private async both(signal: AbortSignal): Promise<void> {
    const end = new AbortController()
    const either = AbortSignal.any([signal, end.signal])
    const { lines, requests, current } = this
    const node = tabNode(this.source)
    const takeLines = (answer: Answer<Line>) => this.tell({ tell: 'console', change: lines.take(answer) })
    const takeRequests = (answer: Answer<Request>) => this.tell({ tell: 'network', change: requests.take(answer) })
    try {
      await Promise.all([
        follow(asksLines(node, current.token, MOST), lines.cursor, this.taking(takeLines, either), either),
        follow(asksRequests(node, current.token, MOST), requests.cursor, this.taking(takeRequests, either), either),
      ])
    } finally {
      end.abort()
    }
  }

  /** An answer says that all is well, too. */
  private taking<T>(take: (answer: T) => void, signal: AbortSignal): (answer: T) => void {
    return (answer) => {
      this.patience.reset()
      take(answer)
      this.stand(answered(this.current))
      void this.look(signal)
    }
  }

  /** Looks at title and address, a while after something came. */
  private async look(signal: AbortSignal): Promise<void> {
    if (this.factsAt > Date.now()) return
    this.factsAt = Date.now() + FACTS_MS
    try {
      await pause(FACTS_MS / 2, undefined, { signal })
      const { api } = await this.source.node()
      const { items: tabs } = await ask(api.GET('/debug/tabs', { signal }))
      const tab = tabs.find((tab) => tab.token === this.current.token)
      if (tab === undefined || signal.aborted) return
      this.current = tab
      this.stand(answered(tab))
    } catch {
      // Whoever follows the lists meets the same failure, and says it.
    }
  }

  /** Waits until there may be an answer again, and never asks at once. */
  private async goOn(failure: Failure, signal: AbortSignal): Promise<void> {
    const hindered = (hindrance: Failure) => this.stand(failed(hindrance))
    // What the node itself could not do passes by itself; that a key may not look does not.
    const passes = failure.kind === 'node' && failure.code !== 'forbidden'
    await Promise.all([this.patience.wait(signal), passes || online(this.source, failure, hindered, signal)])
  }

  /** Goes on with the tab that stands in the place of this one. */
  private become(tab: Tab): void {
    const isOther = tab.token !== this.current.token
    this.current = tab
    if (!isOther) return
    this.lines = new List('lines', MOST)
    this.requests = new List('requests', MOST)
    this.whole()
    this.source.lookSoon()
  }

  private stand(standing: Standing): void {
    this.standing = standing
    this.tellTab()
  }

  private tellTab(): void {
    this.tell({ tell: 'tab', tab: shown(this.current, this.standing) })
  }
}

/** The node behind a hub, for what tabs do. */
function tabNode(source: Source): TabNode {
  return {
    console: async (question) => ask((await source.node()).api.POST('/debug/tabs/{token}/console', question)),
    network: async (question) => ask((await source.node()).api.POST('/debug/tabs/{token}/network', question)),
  }
}
