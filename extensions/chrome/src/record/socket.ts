// What the browser tells of a `WebSocket`: a request of its own, and the messages that go over it.

import type { Protocol } from 'devtools-protocol'
import type { Answered, Direction, Requested, SocketEvent } from '../protocol.ts'
import { bytesIn, cut } from '../secrets/cut.ts'
import type { Clock } from './clock.ts'
import type { Place } from './places.ts'

/** Frames of text (RFC 6455, section 11.8). */
const TEXT = 1

type Handshake = Protocol.Network.WebSocketWillSendHandshakeRequestEvent
type Shaken = Protocol.Network.WebSocketHandshakeResponseReceivedEvent
type Frame = Protocol.Network.WebSocketFrameReceivedEvent

/** The request that opens it. */
export function opening(params: Handshake, url: string, place: Place, clock: Clock): Requested {
  clock.set(params.timestamp, params.wallTime)
  const sent: Requested = {
    request_id: params.requestId,
    timestamp: clock.at(params.timestamp),
    method: 'GET',
    url,
    headers: params.request.headers as Record<string, string>,
    resource_type: 'websocket',
  }
  if (place.kind === 'worker') sent.worker = place.url
  if (place.kind === 'frame') sent.frame = place.url
  return sent
}

/** Its answer. */
export function shaken(params: Shaken, url: string | undefined, clock: Clock): Answered {
  const { status, statusText, headers } = params.response
  const answer: Answered = {
    request_id: params.requestId,
    timestamp: clock.at(params.timestamp),
    status,
    status_text: statusText,
    headers: headers as Record<string, string>,
    resource_type: 'websocket',
  }
  if (url !== undefined) answer.url = url
  return answer
}

/** A message. Of binary ones the browser tells the bytes in base64. */
export function frame(params: Frame, direction: Direction, clock: Clock, most: number): SocketEvent {
  const { opcode, payloadData } = params.response
  const isText = opcode === TEXT
  const { text, isCut } = cut(payloadData, most)
  const event: SocketEvent = {
    request_id: params.requestId,
    timestamp: clock.at(params.timestamp),
    direction,
    payload: text,
    size: isText ? bytesIn(payloadData) : Math.floor((payloadData.length / 4) * 3),
  }
  if (!isText) event.binary = true
  if (isCut) event.payload_truncated = true
  return event
}
