// What the browser tells of requests (CDP, domain `Network`).

import type { Protocol } from 'devtools-protocol'
import type { Answered, Failed, Finished, Headers, Requested } from '../protocol.ts'
import { cut } from '../secrets/cut.ts'
import type { Clock } from './clock.ts'
import type { Place } from './places.ts'
import { kindOf } from './words.ts'

/** The browser's word for what the page gave up, and for the end of an answer without a body. */
const ABORTED = 'net::ERR_ABORTED'
/** Kinds of requests whose answers are no text, or have no end. */
const NO_TEXT = new Set(['Image', 'Media', 'Font', 'EventSource'])

/** A request that has not ended, and what is to come of it. */
export interface Open {
  /** In which session it was sent; none for the page's. */
  session: string | undefined
  /** When it was sent, by the clock that only goes on; none when that was missed. */
  begun?: number
  /** It asks for no body (`HEAD`). */
  asksForNone: boolean
  /** The answer has begun, and has no body or hides it. */
  isEmpty: boolean
  /** Its body may be text. */
  hasText: boolean
  mime?: string
  isCached: boolean
  /** The opening of a WebSocket: where it leads. */
  url?: string
  /** What is told of it waits for this. */
  after?: Promise<void>
}

export function opened(session: string | undefined, params?: Protocol.Network.RequestWillBeSentEvent): Open {
  const open: Open = { session, asksForNone: params?.request.method === 'HEAD', isEmpty: false, hasText: true, isCached: false }
  if (params !== undefined) open.begun = params.timestamp
  return open
}

/** A request; the clock is set by it. */
export function sent(
  params: Protocol.Network.RequestWillBeSentEvent,
  place: Place,
  topFrame: string | undefined,
  clock: Clock,
): Requested {
  clock.set(params.timestamp, params.wallTime)
  const { url, method, headers, urlFragment } = params.request
  const event: Requested = {
    request_id: params.requestId,
    timestamp: clock.at(params.timestamp),
    method,
    url: url + (urlFragment ?? ''),
    headers: headers as Headers,
    resource_type: kindOf(params.type),
  }
  if (place.kind === 'worker') event.worker = place.url
  else if (place.kind === 'frame') event.frame = params.documentURL === '' ? place.url : params.documentURL
  else if (params.frameId !== undefined && topFrame !== undefined && params.frameId !== topFrame) {
    event.frame = params.documentURL
  }
  const redirect = params.redirectResponse
  if (redirect !== undefined) {
    const { status, statusText, headers } = redirect
    event.redirect_response = { status, status_text: statusText, headers: headers as Headers }
  }
  return event
}

/** The body of a request as text, cut. */
export function withBody(event: Requested, body: string | undefined, most: number): Requested {
  if (body === undefined) return { ...event, body_truncated: true }
  const { text, isCut } = cut(body, most)
  return isCut ? { ...event, body: text, body_truncated: true } : { ...event, body: text }
}

/** An answer began; what is to come of it is noted. */
export function answered(params: Protocol.Network.ResponseReceivedEvent, open: Open, clock: Clock): Answered {
  const { response } = params
  open.isEmpty = open.asksForNone || [0, 204, 205, 304].includes(response.status)
  open.hasText = !open.isEmpty && !NO_TEXT.has(params.type)
  open.mime = response.mimeType
  const event = answer(params.requestId, clock.at(params.timestamp), response)
  event.resource_type = kindOf(params.type)
  if (open.isCached || response.fromDiskCache === true || response.fromPrefetchCache === true) event.from_cache = true
  return event
}

/** The answer of a redirect that led where nothing is told of. */
export function redirected(params: Protocol.Network.RequestWillBeSentEvent, clock: Clock): Answered | undefined {
  if (params.redirectResponse === undefined) return undefined
  return answer(params.requestId, clock.at(params.timestamp), params.redirectResponse)
}

function answer(id: string, timestamp: number, response: Protocol.Network.Response): Answered {
  const event: Answered = {
    request_id: id,
    timestamp,
    url: response.url,
    status: response.status,
    status_text: response.statusText,
    headers: response.headers as Headers,
  }
  if (response.mimeType !== '') event.mime_type = response.mimeType
  return event
}

/** The answer is complete, apart from its body. */
export function finished(id: string, at: number, open: Open, clock: Clock, transferred?: number): Finished {
  const event: Finished = { request_id: id, timestamp: clock.at(at) }
  if (open.begun !== undefined) event.duration_ms = Math.max(0, Math.round((at - open.begun) * 1000))
  if (transferred !== undefined) event.transfer_size = Math.max(0, Math.round(transferred))
  if (open.mime !== undefined && open.mime !== '') event.mime_type = open.mime
  return event
}

/**
 * A failure; none when it is the end of an answer without a body, which the browser tells as if the page
 * had given it up.
 */
export function failed(params: Protocol.Network.LoadingFailedEvent, open: Open, clock: Clock): Failed | undefined {
  if (open.isEmpty && params.errorText === ABORTED) return undefined
  const why = params.errorText === '' ? (params.blockedReason ?? 'failed') : params.errorText
  const event: Failed = { request_id: params.requestId, timestamp: clock.at(params.timestamp), error: why }
  if (open.begun !== undefined) event.duration_ms = Math.max(0, Math.round((params.timestamp - open.begun) * 1000))
  return event
}
