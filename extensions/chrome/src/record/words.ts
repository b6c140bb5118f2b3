// The browser's words in those of the protocol: kinds of requests, headers.

import type { Headers, ResourceType } from '../protocol.ts'

const KINDS: Record<string, ResourceType> = {
  document: 'document',
  main_frame: 'document',
  sub_frame: 'document',
  stylesheet: 'stylesheet',
  image: 'image',
  media: 'media',
  texttrack: 'media',
  font: 'font',
  script: 'script',
  xhr: 'xhr',
  xmlhttprequest: 'xhr',
  fetch: 'fetch',
  eventsource: 'eventsource',
  websocket: 'websocket',
  manifest: 'manifest',
  ping: 'ping',
  preflight: 'preflight',
}

/** A kind in the words of `Network.ResourceType` (CDP) or `webRequest.ResourceType`. */
export function kindOf(word: string | undefined): ResourceType {
  return KINDS[(word ?? '').toLowerCase()] ?? 'other'
}

/** Headers of `webRequest`: those that came more than once on lines of their own. */
export function headersOf(list: chrome.webRequest.HttpHeader[] | undefined): Headers | undefined {
  if (list === undefined) return undefined
  const headers: Headers = {}
  for (const { name, value } of list) {
    if (value === undefined) continue
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}\n${value}`
  }
  return headers
}

/** What stands behind the status in `HTTP/1.1 404 Not Found`. */
export function statusTextOf(line: string): string | undefined {
  const text = line.split(' ').slice(2).join(' ')
  return text === '' ? undefined : text
}
