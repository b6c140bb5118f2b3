// The recorder of one tab: what the debugger says of it, as events of the protocol.
//
// Nothing is told of a page that is not the cocoon's. What the browser says before it is known which page
// the tab shows waits for that.

import type { Protocol } from 'devtools-protocol'
import type { ConsoleEntry } from '../protocol.ts'
import type { Bodies } from './bodies.ts'
import type { Host } from './host.ts'
import { Lines } from './lines.ts'
import { type Place, Places } from './places.ts'
import { Requests, type View } from './requests.ts'

/** What of the life of a recorder before this one is known. */
export interface Known {
  isInside: boolean
  places: readonly (readonly [string, Place])[]
}

/** Events that wait at most until it is known what the tab shows. */
const WAITING = 10_000

export class Recorder {
  readonly places: Places
  private readonly view: View
  private readonly requests: Requests
  private readonly lines: Lines
  /** Contexts of scripts of other pages than the cocoon's in the page's own frame. */
  private readonly foreign = new Set<number>()
  private waiting: (() => void)[] | undefined
  /** Events for which there was no room while they waited. */
  private lost = 0

  /** `known` is left out when the debugger came just now: then events wait for `begins`. */
  constructor(
    private readonly host: Host,
    bodies: Bodies,
    known?: Known,
  ) {
    this.view = { isInside: known?.isInside ?? false, isEarly: false, topFrame: undefined, topLoader: undefined }
    this.places = new Places(known?.places)
    this.requests = new Requests(host, bodies, this.view)
    const tell = (entry: ConsoleEntry) => host.tell({ type: 'browser_debug_console_event', entry })
    this.lines = new Lines({ tell, command: (...asked) => host.command(...asked) }, known === undefined)
    if (known === undefined) this.waiting = []
  }

  /** What the tab shows, as the debugger sees it; none when it does not say. */
  begins(top: Protocol.Page.Frame | undefined, isEarly: boolean): void {
    const { waiting } = this
    this.waiting = undefined
    this.view.isEarly = isEarly
    if (top !== undefined) this.show(top)
    for (const one of waiting ?? []) one()
    if (this.lost > 0 && this.view.isInside) this.host.loses(this.lost)
    this.lost = 0
    this.lines.begin()
  }

  /** Lines that were told before may come again. */
  replays(session: string | undefined, isNow: boolean): void {
    this.lines.replays(session, isNow)
  }

  /** The tab left the cocoon's pages. */
  leaves(): void {
    this.view.isInside = false
    this.ends()
  }

  /** Nothing more is heard: lines wait no longer. */
  ends(): void {
    this.lines.end()
  }

  /** An event of the browser. */
  hear(session: string | undefined, method: string, params: unknown): void {
    const isReplayed = this.lines.isReplaying(session)
    if (this.waiting === undefined) this.take(session, method, params, isReplayed)
    else if (this.waiting.length < WAITING) this.waiting.push(() => this.take(session, method, params, isReplayed))
    else this.lost += 1
  }

  private take(session: string | undefined, method: string, params: unknown, isReplayed: boolean): void {
    const place = this.places.find(session)
    if (place === undefined) return
    const [domain, name] = method.split('.', 2)
    if (domain === 'Network') this.requests.hear(session, place, name ?? '', params)
    else if (domain === 'Runtime' || domain === 'Log') this.console(session, place, method, params, isReplayed)
    else if (method === 'Page.frameNavigated') this.navigated(session, params as Protocol.Page.FrameNavigatedEvent)
    else if (domain === 'Target') this.target(method, params)
  }

  private navigated(session: string | undefined, { frame }: Protocol.Page.FrameNavigatedEvent): void {
    if (frame.parentId !== undefined && session === undefined) return
    if (session !== undefined) {
      this.places.shows(session, frame.url)
      return
    }
    this.show(frame)
  }

  private show({ id, loaderId, url }: Protocol.Page.Frame): void {
    this.view.topFrame = id
    this.view.topLoader = loaderId
    this.view.isInside = this.host.isWithin(url)
    this.host.shows(url, this.view.isInside)
  }

  private target(method: string, params: unknown): void {
    if (method === 'Target.attachedToTarget') {
      const { sessionId, targetInfo } = params as Protocol.Target.AttachedToTargetEvent
      this.host.below(sessionId, this.places.attached(sessionId, targetInfo))
    } else if (method === 'Target.detachedFromTarget') {
      const { sessionId } = params as Protocol.Target.DetachedFromTargetEvent
      this.places.detached(sessionId)
      this.lines.replays(sessionId, false)
      this.requests.detached(sessionId)
    }
  }

  private console(session: string | undefined, place: Place, method: string, params: unknown, isReplayed: boolean): void {
    if (session === undefined && this.context(method, params)) return
    if (!this.view.isInside) return
    this.lines.take(session, place, method, params, isReplayed ? this.host.toldUntil : undefined)
  }

  /** Whether it is about a context, or comes from one of another page. */
  private context(method: string, params: unknown): boolean {
    switch (method) {
      case 'Runtime.executionContextCreated': {
        const { id, origin, auxData } = (params as Protocol.Runtime.ExecutionContextCreatedEvent).context
        const isTop = this.view.topFrame === undefined || auxData?.['frameId'] === this.view.topFrame
        if (isTop && origin !== '' && !this.host.isOrigin(origin)) this.foreign.add(id)
        else this.foreign.delete(id)
        return true
      }
      case 'Runtime.executionContextsCleared':
        this.foreign.clear()
        return true
      case 'Runtime.consoleAPICalled':
        return this.foreign.has((params as Protocol.Runtime.ConsoleAPICalledEvent).executionContextId)
      case 'Runtime.exceptionThrown': {
        const { executionContextId } = (params as Protocol.Runtime.ExceptionThrownEvent).exceptionDetails
        return executionContextId !== undefined && this.foreign.has(executionContextId)
      }
      default:
        return false
    }
  }
}
