// The debugger on one tab: attached while the tab shows its cocoon's pages, and heard by a recorder.

import type { Protocol } from 'devtools-protocol'
import type { TabEvent } from '../protocol.ts'
import type { Bodies } from '../record/bodies.ts'
import { attach, command, detach, go, listen } from '../record/debuggee.ts'
import type { Place } from '../record/places.ts'
import type { Host } from '../record/host.ts'
import { Recorder } from '../record/recorder.ts'
import { Told } from '../record/told.ts'
import { isWithin } from './scope.ts'
import type { Tab } from './tab.ts'

/** How much later than the page the browser may see a request begin, in milliseconds. */
const SLACK_MS = 250

/** What a watch works with. */
export interface Watcher {
  readonly bodies: Bodies
  bodyBytes(): number
  tell(tab: Tab, event: TabEvent): void
  /** Something about the tab changed that has to be kept. */
  noted(): void
}

export class Watch implements Host {
  toldUntil = 0
  /** Since when the debugger tells of every request that begins, in milliseconds since 1970. */
  private coveredSince: number | undefined
  /** Why it is not attached, for people. */
  failure: string | undefined
  /** Requests of a page whose beginning the debugger missed, as far as it tells of them. */
  readonly told = new Told()
  private recorder: Recorder | undefined
  private isOn = false
  /** Attempts to attach of before are over. */
  private turn = 0

  constructor(
    private readonly tab: Tab,
    private readonly watcher: Watcher,
    isAdopted: boolean,
  ) {
    const { note } = tab
    this.toldUntil = note.toldUntil
    if (!isAdopted || !note.isAttached) return
    this.recorder = new Recorder(this, watcher.bodies, note)
    this.coveredSince = 0
  }

  /** Attaches, unless it is attached. */
  async start(): Promise<void> {
    const { note } = this.tab
    if (this.isOn || note.isPaused || note.isEnded) return
    this.isOn = true
    const turn = (this.turn += 1)
    let isAdopted: boolean
    try {
      isAdopted = await attach(note.tabId)
    } catch (error) {
      if (turn !== this.turn) return
      this.isOn = false
      this.failure = error instanceof Error ? error.message : String(error)
      return
    }
    // Whoever stopped it has detached; by now another may have attached.
    if (turn !== this.turn) return
    if (!isAdopted) this.forget()
    this.failure = undefined
    note.isAttached = true
    this.watcher.noted()
    this.switchOn()
  }

  private switchOn(): void {
    const { note } = this.tab
    this.toldUntil = note.toldUntil
    const recorder = (this.recorder ??= new Recorder(this, this.watcher.bodies))
    const isEarly = !note.isInside
    recorder.replays(undefined, true)
    const on = listen(note.tabId, undefined, 'page')
    const tree = command<Protocol.Page.GetFrameTreeResponse>(note.tabId, undefined, 'Page.getFrameTree')
    void tree.then(
      ({ frameTree }) => recorder.begins(frameTree.frame, isEarly),
      () => recorder.begins(undefined, isEarly),
    )
    void on.requests.then(
      () => {
        if (this.recorder === recorder) this.coveredSince ??= Date.now()
      },
      () => {},
    )
    void on.console.then(() => recorder.replays(undefined, false))
  }

  /** Whether the debugger tells of all that a page does to which the tab is on its way since then. */
  isOnAt(at: number): boolean {
    return this.coveredSince !== undefined && at > this.coveredSince
  }

  /** Whether requests may begin that the debugger does not tell of, and somebody wants to know of. */
  lacks(at: number): boolean {
    const { isPaused, isEnded } = this.tab.note
    if (isPaused || isEnded || this.covers(at)) return false
    return this.isOn || this.failure !== undefined || this.tab.grant() !== undefined || this.tab.isAccepted
  }

  /** Whether the debugger tells of a request that begins then. */
  covers(at: number): boolean {
    return this.coveredSince !== undefined && at > this.coveredSince + SLACK_MS
  }

  /** Detaches. */
  async stop(): Promise<void> {
    const { note } = this.tab
    this.off()
    await detach(note.tabId)
  }

  /** The browser detached. */
  off(): void {
    this.turn += 1
    this.isOn = false
    this.tab.note.isAttached = false
    this.forget()
  }

  private forget(): void {
    this.recorder?.ends()
    this.coveredSince = undefined
    this.told.clear()
    this.recorder = undefined
    this.tab.note.places = []
  }

  /** An event of the browser. */
  hear(session: string | undefined, method: string, params: unknown): void {
    this.recorder?.hear(session, method, params)
  }

  /** The tab left the cocoon's pages. */
  leaves(): void {
    this.recorder?.leaves()
  }

  isWithin(url: string): boolean {
    return isWithin(url, this.tab.note.cocoon)
  }

  isOrigin(origin: string): boolean {
    return origin === this.tab.note.cocoon.origin
  }

  sends(method: string, url: string): void {
    if (this.tab.note.mayMiss === true) this.told.put(method, url)
  }

  tell(event: TabEvent): void {
    this.watcher.tell(this.tab, event)
  }

  loses(events: number): void {
    this.tab.ring.lose(events)
    this.watcher.noted()
  }

  shows(_url: string, isInside: boolean): void {
    this.tab.note.isInside = isInside
    this.watcher.noted()
  }

  below(session: string, place: Place | undefined): void {
    const { note } = this.tab
    const { recorder } = this
    if (place !== undefined && place.kind !== 'page' && recorder !== undefined) {
      recorder.replays(session, true)
      void listen(note.tabId, session, place.kind).console.then(() => recorder.replays(session, false))
      note.places = recorder.places.list()
      this.watcher.noted()
    }
    go(note.tabId, session)
  }

  command<T>(session: string | undefined, method: string, params: object): Promise<T> {
    return command<T>(this.tab.note.tabId, session, method, params)
  }

  bodyBytes(): number {
    return this.watcher.bodyBytes()
  }
}
