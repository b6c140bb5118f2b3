// The requests of one tab that have not ended, and what the debugger says of them.
//
// Nothing is told of requests of other pages: of the one before, and of where the tab goes next.

import type { Protocol } from 'devtools-protocol'
import { OPEN_REQUESTS } from '../limits.ts'
import type { NetworkChange, TabEvent } from '../protocol.ts'
import { makeRoom } from '../room.ts'
import type { Bodies } from './bodies.ts'
import { Clock } from './clock.ts'
import { type Open, answered, failed, finished, opened, redirected, sent, withBody } from './network.ts'
import type { Place } from './places.ts'
import type { Host } from './host.ts'
import { frame, opening, shaken } from './socket.ts'

/** What is known of the page in the tab. */
export interface View {
  /** Whether it is the cocoon's. */
  isInside: boolean
  /** Whether the debugger came before it: then a request that nobody knows is none of the page's. */
  isEarly: boolean
  topFrame: string | undefined
  /** What loaded it: requests of the page name it. */
  topLoader: string | undefined
}

export class Requests {
  private readonly clock = new Clock()
  /** By the browser's id, which counts in all sessions: what begins in a page may end in its worker. */
  private readonly open = new Map<string, Open>()
  /** Requests of which nothing is told. */
  private readonly hidden = new Set<string>()

  constructor(
    private readonly host: Host,
    private readonly bodies: Bodies,
    private readonly view: View,
  ) {}

  /** A frame or a worker is gone. */
  detached(session: string): void {
    for (const [id, open] of this.open) if (open.session === session) this.open.delete(id)
  }

  /** An event of the domain `Network`. */
  hear(session: string | undefined, place: Place, name: string, params: unknown): void {
    const id = (params as { requestId?: string }).requestId
    if (id === undefined) return
    if (name === 'requestWillBeSent') {
      this.sent(session, place, params as Protocol.Network.RequestWillBeSentEvent)
      return
    }
    if (name === 'webSocketCreated') {
      const { url } = params as Protocol.Network.WebSocketCreatedEvent
      if (this.view.isInside) this.note(id, { ...opened(session), url })
      if (this.view.isInside) this.host.sends('GET', url)
      return
    }
    const open = this.open.get(id) ?? (name === 'responseReceived' ? this.missed(session, params as Protocol.Network.ResponseReceivedEvent) : undefined)
    if (open === undefined) return
    switch (name) {
      case 'requestServedFromCache':
        open.isCached = true
        break
      case 'responseReceived': {
        const received = params as Protocol.Network.ResponseReceivedEvent
        this.tell(open, { event: 'response', data: answered(received, open, this.clock) })
        break
      }
      case 'loadingFinished':
        void this.finished(session, open, params as Protocol.Network.LoadingFinishedEvent)
        break
      case 'loadingFailed':
        this.failed(open, params as Protocol.Network.LoadingFailedEvent)
        break
      default:
        this.socket(open, place, name, params)
    }
  }

  private sent(session: string | undefined, place: Place, params: Protocol.Network.RequestWillBeSentEvent): void {
    const isTop = session === undefined && (this.view.topFrame === undefined || params.frameId === this.view.topFrame)
    const isNavigation = isTop && params.type === 'Document' && params.requestId === params.loaderId
    if (isNavigation ? !this.host.isWithin(params.request.url) : !this.view.isInside) {
      this.leaves(params)
      return
    }
    this.hidden.delete(params.requestId)
    this.host.sends(params.request.method, params.request.url)
    const event = sent(params, place, this.view.topFrame, this.clock)
    const open = this.note(params.requestId, opened(session, params))
    const { postData, hasPostData } = params.request
    const most = this.host.bodyBytes()
    if (postData !== undefined) {
      this.tell(open, { event: 'request', data: withBody(event, postData, most) })
    } else if (hasPostData !== true) {
      this.tell(open, { event: 'request', data: event })
    } else {
      const ask = this.host.command<{ postData: string }>(session, 'Network.getRequestPostData', { requestId: params.requestId })
      open.after = ask
        .then(({ postData }) => postData, () => undefined)
        .then((body) => {
          delete open.after
          this.tell(open, { event: 'request', data: withBody(event, body, most) })
        })
    }
  }

  /** A request to somewhere else: only where it came from is told, when that was the cocoon's. */
  private leaves(params: Protocol.Network.RequestWillBeSentEvent): void {
    const open = this.open.get(params.requestId)
    const answer = open === undefined ? undefined : redirected(params, this.clock)
    if (open !== undefined && answer !== undefined) {
      this.tell(open, { event: 'response', data: answer })
      this.tell(open, { event: 'finished', data: finished(params.requestId, params.timestamp, open, this.clock) })
    }
    this.open.delete(params.requestId)
    this.hide(params.requestId)
  }

  /** What is noted of a request that was sent before anyone listened; none when nothing is told of it. */
  private missed(session: string | undefined, params: Protocol.Network.ResponseReceivedEvent): Open | undefined {
    const isForeign = this.view.isEarly && session === undefined && params.loaderId !== this.view.topLoader
    if (!this.view.isInside || isForeign || this.hidden.has(params.requestId)) return undefined
    return this.note(params.requestId, opened(session))
  }

  private note(id: string, open: Open): Open {
    let lost = 0
    makeRoom(this.open, OPEN_REQUESTS, () => (lost += 1))
    if (lost > 0) this.host.loses(lost)
    this.open.set(id, open)
    return open
  }

  private hide(id: string): void {
    makeRoom(this.hidden, OPEN_REQUESTS)
    this.hidden.add(id)
  }

  private async finished(
    session: string | undefined,
    open: Open,
    params: Protocol.Network.LoadingFinishedEvent,
  ): Promise<void> {
    const { requestId, timestamp, encodedDataLength } = params
    this.open.delete(requestId)
    const data = finished(requestId, timestamp, open, this.clock, encodedDataLength)
    if (open.hasText && open.url === undefined) {
      const ask = () => this.host.command<Protocol.Network.GetResponseBodyResponse>(session, 'Network.getResponseBody', { requestId })
      const body = await this.bodies.fetch(ask, this.host.bodyBytes())
      if (body !== undefined) {
        data.body = body.text
        data.body_size = body.size
        if (body.isCut) data.body_truncated = true
      }
    }
    this.tell(open, { event: 'finished', data })
  }

  private failed(open: Open, params: Protocol.Network.LoadingFailedEvent): void {
    this.open.delete(params.requestId)
    const data = failed(params, open, this.clock)
    if (data !== undefined) this.tell(open, { event: 'failed', data })
    else this.tell(open, { event: 'finished', data: finished(params.requestId, params.timestamp, open, this.clock) })
  }

  private socket(open: Open, place: Place, name: string, params: unknown): void {
    const most = this.host.bodyBytes()
    switch (name) {
      case 'webSocketWillSendHandshakeRequest': {
        const shake = params as Protocol.Network.WebSocketWillSendHandshakeRequestEvent
        open.begun = shake.timestamp
        this.tell(open, { event: 'request', data: opening(shake, open.url ?? '', place, this.clock) })
        break
      }
      case 'webSocketHandshakeResponseReceived': {
        const answer = params as Protocol.Network.WebSocketHandshakeResponseReceivedEvent
        this.tell(open, { event: 'response', data: shaken(answer, open.url, this.clock) })
        break
      }
      case 'webSocketFrameSent':
      case 'webSocketFrameReceived': {
        const message = params as Protocol.Network.WebSocketFrameReceivedEvent
        const direction = name === 'webSocketFrameSent' ? 'sent' : 'received'
        this.tell(open, { event: 'message', data: frame(message, direction, this.clock, most) })
        break
      }
      case 'webSocketFrameError': {
        const { requestId, timestamp, errorMessage } = params as Protocol.Network.WebSocketFrameErrorEvent
        this.open.delete(requestId)
        this.tell(open, { event: 'failed', data: { request_id: requestId, timestamp: this.clock.at(timestamp), error: errorMessage } })
        this.hide(requestId)
        break
      }
      case 'webSocketClosed': {
        const { requestId, timestamp } = params as Protocol.Network.WebSocketClosedEvent
        this.open.delete(requestId)
        this.tell(open, { event: 'finished', data: finished(requestId, timestamp, open, this.clock) })
        break
      }
    }
  }

  /** Tells of a request, in its order. */
  private tell(open: Open, change: NetworkChange): void {
    const event: TabEvent = { type: 'browser_debug_network_event', source: 'debugger', ...change }
    if (open.after === undefined) this.host.tell(event)
    else void open.after.then(() => this.host.tell(event))
  }
}
