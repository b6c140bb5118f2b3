// A tab that is looked at: its grant, its events and how far the node has them.

import type { Cocoon, TabEvent } from '../protocol.ts'
import type { Place } from '../record/places.ts'
import { clean } from '../secrets/clean.ts'
import { Ring } from './ring.ts'

/** What is kept of a tab when the service worker ends. */
export interface TabNote {
  tabId: number
  cocoon: Cocoon
  url: string
  title: string
  favicon?: string | undefined
  /** What the header of the page brought, until the node took it. */
  offer?: string | undefined
  /** What the node calls the tab, and the grant by which the tab is offered again. */
  token?: string | undefined
  resume?: string | undefined
  epoch: number
  last: number
  sent: number
  dropped: number
  /** Whether the page had begun to load before the debugger came. */
  firstLoad: boolean
  /** Whether the person does not want it to be looked at. */
  isPaused: boolean
  isAttached: boolean
  /** Whether the page that it shows is the cocoon's. */
  isInside: boolean
  /** Whether it has not shown a page of the cocoon yet, and is about to. */
  isOnItsWay: boolean
  /** Closed or elsewhere: the node is to be told. */
  isEnded: boolean
  /** When the newest line of the console was written: what is replayed is told once. */
  toldUntil: number
  places: [string, Place][]
}

/** A tab that is looked at. */
export class Tab {
  readonly ring: Ring
  /** What it was offered by on this connection; none before it is offered. */
  offered: string | undefined
  /** Whether the node took it on this connection. */
  isAccepted = false
  /** Whether its numbers are a guess, for the worker's life before may have given more. */
  private isGuessed: boolean

  constructor(
    readonly note: TabNote,
    isRevived = false,
  ) {
    this.ring = new Ring(note)
    this.isGuessed = isRevived && note.token !== undefined
  }

  static create(tabId: number, cocoon: Cocoon, url: string): Tab {
    return new Tab({
      tabId,
      cocoon,
      url,
      title: '',
      epoch: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
      last: 0,
      sent: 0,
      dropped: 0,
      firstLoad: false,
      isPaused: false,
      isAttached: false,
      isInside: false,
      isOnItsWay: true,
      isEnded: false,
      toldUntil: 0,
      places: [],
    })
  }

  /** Keeps an event, without its secrets. */
  put(event: TabEvent, bodyBytes: number): void {
    if (this.note.isPaused || this.note.isEnded) return
    if (event.type === 'browser_debug_console_event') {
      this.note.toldUntil = Math.max(this.note.toldUntil, event.entry.timestamp)
    }
    this.ring.push(JSON.stringify(clean(event, bodyBytes)))
  }

  /** What the tab can be offered by. */
  grant(): string | undefined {
    return this.note.resume ?? this.note.offer
  }

  /** The node took it, and has its events up to this one. */
  accepted(token: string, resume: string | undefined, lastSeq: number): void {
    this.note.token = token
    this.note.resume = resume
    this.note.offer = undefined
    this.isAccepted = true
    // What was under way when the worker ended is missing; nobody knows how much: the hole says so.
    if (this.isGuessed) this.ring.skipTo(Math.max(this.note.last, lastSeq) + 1)
    this.isGuessed = false
    this.ring.rewind(lastSeq)
  }

  /** The connection is lost, or the node no longer knows what the tab was offered by. */
  disconnected(): void {
    this.offered = undefined
    this.isAccepted = false
  }

  forget(): void {
    this.disconnected()
    this.note.offer = undefined
    this.note.token = undefined
    this.note.resume = undefined
  }

  /** What is to be kept of it now. */
  noted(): TabNote {
    const { last, sent, dropped } = this.ring
    return { ...this.note, last, sent, dropped }
  }
}
