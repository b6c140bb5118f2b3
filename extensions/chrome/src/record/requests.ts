// The requests of one tab that have not ended, and what the debugger says of them.
//
// Nothing is told of requests of other pages: of the one before, and of where the tab goes next.

import type { Protocol } from 'devtools-protocol'
import { OPEN_REQUESTS } from '../limits.ts'
import type { NetworkChange, TabEvent } from '../protocol.ts'
import type { Bodies } from './bodies.ts'
import { Clock } from './clock.ts'
import { type Open, answered, failed, finished, opened, redirected, sent, withBody } from './network.ts'
import type { Place } from './places.ts'
import type { Host } from './recorder.ts'
import { frame, opening, shaken } from './socket.ts'

/** What is known of the page in the tab. */
export interface View {
  /** Whether it is the cocoon's. */
  isInside: boolean
  /** Whether the debugger came before it: then a request that nobody knows is none of the page's. */
  isEarly: boolean
  topFrame: string | undefined
}

export class Requests {
  private readonly clock = new Clock()
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
    for (const key of this.open.keys()) if (key.startsWith(`${session} `)) this.open.delete(key)
  }

  /** An event of the domain `Network`. */
  hear(session: string | undefined, place: Place, name: string, params: unknown): void {
    const id = (params as { requestId?: string }).requestId
    if (id === undefined) return
    const key = `${session ?? ''} ${id}`
    if (name === 'requestWillBeSent') {
      this.sent(session, key, place, params as Protocol.Network.RequestWillBeSentEvent)
      return
    }
    if (name === 'webSocketCreated') {
      const { url } = params as Protocol.Network.WebSocketCreatedEvent
      if (this.view.isInside) this.note(key, { ...opened(), url })
      return
    }
    const open = this.open.get(key) ?? this.missed(key)
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
        void this.finished(session, key, open, params as Protocol.Network.LoadingFinishedEvent)
        break
      case 'loadingFailed':
        this.failed(key, open, params as Protocol.Network.LoadingFailedEvent)
        break
      default:
        this.socket(key, open, place, name, params)
    }
  }

  private sent(session: string | undefined, key: string, place: Place, params: Protocol.Network.RequestWillBeSentEvent): void {
    const isTop = session === undefined && (this.view.topFrame === undefined || params.frameId === this.view.topFrame)
    const isNavigation = isTop && params.type === 'Document' && params.requestId === params.loaderId
    if (isNavigation ? !this.host.isWithin(params.request.url) : !this.view.isInside) {
      this.leaves(key, params)
      return
    }
    this.hidden.delete(key)
    const event = sent(params, place, this.view.topFrame, this.clock)
    const open = this.note(key, opened(params))
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
  private leaves(key: string, params: Protocol.Network.RequestWillBeSentEvent): void {
    const open = this.open.get(key)
    const answer = open === undefined ? undefined : redirected(params, this.clock)
    if (open !== undefined && answer !== undefined) {
      this.tell(open, { event: 'response', data: answer })
      this.tell(open, { event: 'finished', data: finished(params.requestId, params.timestamp, open, this.clock) })
    }
    this.open.delete(key)
    if (this.hidden.size >= OPEN_REQUESTS) this.hidden.clear()
    this.hidden.add(key)
  }

  /** What is noted of a request that was sent before anyone listened; none when nothing is told of it. */
  private missed(key: string): Open | undefined {
    if (!this.view.isInside || this.view.isEarly || this.hidden.has(key)) return undefined
    return this.note(key, opened())
  }

  private note(key: string, open: Open): Open {
    if (this.open.size >= OPEN_REQUESTS) {
      const oldest = this.open.keys().next()
      if (oldest.done !== true) this.open.delete(oldest.value)
    }
    this.open.set(key, open)
    return open
  }

  private async finished(
    session: string | undefined,
    key: string,
    open: Open,
    params: Protocol.Network.LoadingFinishedEvent,
  ): Promise<void> {
    const { requestId, timestamp, encodedDataLength } = params
    this.open.delete(key)
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

  private failed(key: string, open: Open, params: Protocol.Network.LoadingFailedEvent): void {
    this.open.delete(key)
    const data = failed(params, open, this.clock)
    if (data !== undefined) this.tell(open, { event: 'failed', data })
    else this.tell(open, { event: 'finished', data: finished(params.requestId, params.timestamp, open, this.clock) })
  }

  private socket(key: string, open: Open, place: Place, name: string, params: unknown): void {
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
        this.open.delete(key)
        this.tell(open, { event: 'failed', data: { request_id: requestId, timestamp: this.clock.at(timestamp), error: errorMessage } })
        this.hidden.add(key)
        break
      }
      case 'webSocketClosed': {
        const { requestId, timestamp } = params as Protocol.Network.WebSocketClosedEvent
        this.open.delete(key)
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
