// All that the node gives of one request, as facts and texts. Secrets the node has hidden already.

import { duration, size } from '../amounts.ts'
import type { Schemas } from '../schemas.ts'
import { requestOf } from './shown.ts'

type Request = Schemas['NetworkRequest']

/** A name and its value. */
export interface Fact {
  name: string
  value: string
}

/** A part with a title: headers are facts, a body is a text. */
export interface Section {
  title: string
  facts: Fact[]
  text: string
}

/** A request, whole. */
export interface Details {
  key: number
  facts: Fact[]
  sections: Section[]
}

/** What is shown of a request when one looks closer. */
export function detailsOf(request: Request): Details {
  return {
    key: request.number ?? 0,
    facts: facts(request),
    sections: [
      headers('Request headers', request.request_headers),
      body('Request body', request.request_body, request.request_body_truncated),
      headers('Response headers', request.response_headers),
      responseBody(request),
      messages(request),
    ].filter((section) => section.text !== '' || section.facts.length > 0),
  }
}

/** Why there is nothing to look at. */
export function noDetails(key: number, why: string): Details {
  return { key, facts: [], sections: [{ title: 'Not shown', facts: [], text: why }] }
}

function facts(request: Request): Fact[] {
  const row = requestOf(request)
  const notes = [
    request.from_cache === true ? 'from a cache' : '',
    request.partial === true ? 'its beginning was missed' : '',
    (request.hop ?? 0) > 0 ? `redirect ${request.hop}` : '',
  ]
  const all: [string, string][] = [
    ['Method', row.method],
    ['Address', row.address],
    ['Status', [row.status, request.status_text ?? ''].join(' ').trim()],
    ['Error', request.error ?? ''],
    ['Type', [...new Set([row.type, request.mime_type ?? ''])].filter((word) => word !== '').join(', ')],
    ['Sent', new Date(request.timestamp).toISOString()],
    ['Duration', request.duration_ms == null ? '' : duration(request.duration_ms)],
    ['Transferred', row.size],
    ['Body', request.response_body_size == null ? '' : size(request.response_body_size)],
    ['Frame', request.frame ?? ''],
    ['Worker', request.worker ?? ''],
    ['Note', notes.filter((note) => note !== '').join(', ')],
  ]
  return all.filter(([, value]) => value !== '').map(([name, value]) => ({ name, value }))
}

/** A header that was sent more than once has a line for each value. */
function headers(title: string, found: Request['request_headers']): Section {
  const facts = Object.entries(found ?? {}).flatMap(([name, values]) => values.split('\n').map((value) => ({ name, value })))
  return { title, facts, text: '' }
}

function body(title: string, text: string | null | undefined, cut: boolean | undefined): Section {
  return { title: cut === true ? `${title} (only its beginning was kept)` : title, facts: [], text: text ?? '' }
}

function responseBody(request: Request): Section {
  const title = request.response_body_base64 === true ? 'Response body (base64)' : 'Response body'
  return body(title, request.response_body, request.response_body_truncated)
}

function messages(request: Request): Section {
  const dropped = request.messages_dropped ?? 0
  const facts = (request.messages ?? []).map((message) => ({
    name: message.direction,
    value: `${message.binary === true ? '(binary) ' : ''}${message.payload}${message.payload_truncated === true ? ' …' : ''}`,
  }))
  return { title: dropped === 0 ? 'Messages' : `Messages (${dropped} older ones are not kept)`, facts, text: '' }
}
