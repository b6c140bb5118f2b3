// A tab that is looked at: its grant, its events and how far the node has them.

import { MOST_BODY_BYTES } from '../limits.ts'
import type { Cocoon, TabEvent } from '../protocol.ts'
import type { Place } from '../record/places.ts'
import { clean } from '../secrets/clean.ts'
import { Redactor } from '../secrets/redactor.ts'
import { whole } from '../secrets/whole.ts'
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
  /** The page that it shows, as the browser calls it. */
  documentId?: string | undefined
  /** The page at which it was paused: what that asked for is not told later either. */
  pausedAt?: string | undefined
  /** Whether the beginning of a request of this page may have been missed. */
  mayMiss?: boolean | undefined
  /** Whether the person does not want it to be looked at. */
  isPaused: boolean
  /** Whether the person wants secrets of the tab to be told too. */
  reveals?: boolean | undefined
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
  /** Remembers the secrets of the tab. */
  readonly redactor = new Redactor()
  /** What it was offered by on this connection; none before it is offered. */
  offered: string | undefined
  /** Whether the node took it on this connection. */
  isAccepted = false
  /** Why the node does not take it now, for people. */
  refusal: string | undefined
  /** Whether the node keeps secrets of it, as the person wants it: it said so on this connection. */
  isRevealed = false
  /** Whether secrets are among the events that are kept. */
  private hasSecrets = false
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

  /** Keeps an event: without its secrets, unless the person wants them told and the node takes them. */
  put(event: TabEvent, bodyBytes: number): void {
    if (this.note.isPaused || this.note.isEnded) return
    if (event.type === 'browser_debug_console_event') {
      this.note.toldUntil = Math.max(this.note.toldUntil, event.entry.timestamp)
    }
    this.hasSecrets ||= this.isRevealed
    this.ring.push(JSON.stringify(this.isRevealed ? whole(event, bodyBytes) : clean(this.redactor, event, bodyBytes)))
  }

  /** What the tab can be offered by. */
  grant(): string | undefined {
    return this.note.resume ?? this.note.offer
  }

  /** The node took it, has its events up to this one, and says whether it keeps secrets of it. */
  accepted(token: string, resume: string | undefined, lastSeq: number, isRevealed: boolean): void {
    this.note.token = token
    this.note.resume = resume
    this.note.offer = undefined
    this.isAccepted = true
    this.refusal = undefined
    this.isRevealed = isRevealed && this.note.reveals === true
    if (!this.isRevealed) this.hideSecrets()
    // What was under way when the worker ended is missing; nobody knows how much: the hole says so.
    if (this.isGuessed) this.ring.skipTo(Math.max(this.note.last, lastSeq) + 1)
    this.isGuessed = false
    this.ring.rewind(lastSeq)
  }

  /** From now on secrets are told too, as soon as the node says so, or no longer: then none that waits goes. */
  reveal(on: boolean): void {
    this.note.reveals = on
    if (on) return
    this.isRevealed = false
    this.hideSecrets()
  }

  /** What waits was kept with its secrets: they go. */
  private hideSecrets(): void {
    if (!this.hasSecrets) return
    this.hasSecrets = false
    this.ring.rewrite((json) => JSON.stringify(clean(this.redactor, JSON.parse(json) as TabEvent, MOST_BODY_BYTES)))
  }

  /** The connection is lost, or the node no longer knows what the tab was offered by. */
  disconnected(): void {
    this.offered = undefined
    this.isAccepted = false
    this.isRevealed = false
  }

  forget(): void {
    this.disconnected()
    this.refusal = undefined
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
