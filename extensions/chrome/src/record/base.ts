// The layer below the debugger: `chrome.webRequest`, which sees the first page from its first request on.
//
// It has no bodies. The browser wakes a sleeping worker for it and tells it all that happened meanwhile.

import { OPEN_REQUESTS } from '../limits.ts'
import type { NetworkChange, Requested } from '../protocol.ts'
import { isWithin } from '../tabs/scope.ts'
import type { Tab } from '../tabs/tab.ts'
import { headersOf, kindOf, statusTextOf } from './words.ts'

/** The header by which a cocoon's page says that it can be looked at. */
const TOKEN_HEADER = 'x-adi-debug-token'

/** What the layer tells. */
export interface Ears {
  /** A tab is on its way to a page, since then. */
  heads(tabId: number, url: string, at: number): void
  /** The page on its way brings a token. */
  brings(tabId: number, url: string, token: string): void
  /** The tab of which this request is told by this layer; none when it is not, or by the debugger. */
  find(tabId: number, url: string, isPage: boolean, initiator: string | undefined, at: number): Tab | undefined
  tell(tab: Tab, change: NetworkChange): void
}

interface Open {
  tab: Tab
  begun: number
  isRedirected?: { status: number; text: string | undefined; headers: chrome.webRequest.HttpHeader[] | undefined }
}

type Listener<T> = (listener: (details: T) => undefined) => void

/** Puts what `chrome.webRequest` says into the words of the protocol. */
export class BaseLayer {
  private readonly open = new Map<string, Open>()
  private readonly frames = new Map<string, string>()

  constructor(private readonly ears: Ears) {}

  begins(details: chrome.webRequest.OnBeforeRequestDetails): void {
    const { requestId, tabId, url, method, type, frameId, timeStamp, initiator, documentLifecycle } = details
    // A page that is made ready for later is nobody's yet.
    if (tabId < 0 || documentLifecycle === 'prerender') return
    const isPage = type === 'main_frame'
    const before = this.open.get(requestId)
    if (isPage) this.ears.heads(tabId, url, timeStamp)
    if (type === 'sub_frame') this.place(tabId, frameId, url)
    const tab = before?.tab ?? this.ears.find(tabId, url, isPage, initiator, timeStamp)
    if (tab === undefined || (isPage && !isWithin(url, tab.note.cocoon))) {
      this.open.delete(requestId)
      return
    }
    const data: Requested = { request_id: requestId, timestamp: Math.round(timeStamp), method, url, resource_type: kindOf(type) }
    const frame = frameId > 0 ? this.frames.get(`${tabId} ${frameId}`) : undefined
    if (frame !== undefined) data.frame = frame
    if (before?.isRedirected !== undefined) {
      const { status, text, headers } = before.isRedirected
      const all = headersOf(headers)
      data.redirect_response = { status, ...(text !== undefined && { status_text: text }), ...(all && { headers: all }) }
    }
    this.note(requestId, { tab, begun: timeStamp })
    this.ears.tell(tab, { event: 'request', data })
  }

  redirects(details: chrome.webRequest.OnBeforeRedirectDetails): void {
    const open = this.open.get(details.requestId)
    if (open === undefined) return
    open.isRedirected = {
      status: details.statusCode,
      text: statusTextOf(details.statusLine),
      headers: details.responseHeaders,
    }
  }

  headers(details: chrome.webRequest.OnHeadersReceivedDetails): void {
    const { tabId, url, type, responseHeaders, statusCode, documentLifecycle } = details
    if (documentLifecycle === 'prerender') return
    if (type !== 'main_frame' || tabId < 0 || (statusCode >= 300 && statusCode < 400)) return
    const token = responseHeaders?.find(({ name }) => name.toLowerCase() === TOKEN_HEADER)?.value
    if (token !== undefined && token !== '') this.ears.brings(tabId, url, token)
  }

  answers(details: chrome.webRequest.OnResponseStartedDetails): void {
    const open = this.open.get(details.requestId)
    if (open === undefined) return
    const { requestId, timeStamp, statusCode, statusLine, responseHeaders, url, type, fromCache } = details
    const text = statusTextOf(statusLine)
    const headers = headersOf(responseHeaders)
    const data = {
      request_id: requestId,
      timestamp: Math.round(timeStamp),
      status: statusCode,
      url,
      resource_type: kindOf(type),
      ...(text !== undefined && { status_text: text }),
      ...(headers !== undefined && { headers }),
      ...(fromCache && { from_cache: true }),
    }
    this.ears.tell(open.tab, { event: 'response', data })
  }

  ends(details: chrome.webRequest.OnCompletedDetails): void {
    const { requestId, timeStamp, type } = details
    const open = this.open.get(requestId)
    if (open === undefined) return
    this.open.delete(requestId)
    // A WebSocket has just begun.
    if (type === 'websocket') return
    const data = { request_id: requestId, timestamp: Math.round(timeStamp), duration_ms: since(open, timeStamp) }
    this.ears.tell(open.tab, { event: 'finished', data })
  }

  fails(details: chrome.webRequest.OnErrorOccurredDetails): void {
    const { requestId, timeStamp, error } = details
    const open = this.open.get(requestId)
    if (open === undefined) return
    this.open.delete(requestId)
    const data = { request_id: requestId, timestamp: Math.round(timeStamp), error, duration_ms: since(open, timeStamp) }
    this.ears.tell(open.tab, { event: 'failed', data })
  }

  private note(id: string, open: Open): void {
    if (this.open.size >= OPEN_REQUESTS) this.open.clear()
    this.open.set(id, open)
  }

  private place(tabId: number, frameId: number, url: string): void {
    if (this.frames.size >= OPEN_REQUESTS) this.frames.clear()
    this.frames.set(`${tabId} ${frameId}`, url)
  }
}

function since(open: Open, now: number): number {
  return Math.max(0, Math.round(now - open.begun))
}

/** Registers a layer's ears with the browser; `run` says when they are called of what happened then. */
export function listenToRequests(base: BaseLayer, urls: string[], run: (what: () => void, at: number) => void): void {
  const filter = { urls }
  const web = chrome.webRequest
  const later = <T extends { timeStamp: number }>(what: (details: T) => void): Parameters<Listener<T>>[0] => (details) => {
    run(() => what(details), details.timeStamp)
    return undefined
  }
  web.onBeforeRequest.addListener(later<chrome.webRequest.OnBeforeRequestDetails>((it) => base.begins(it)), filter)
  web.onBeforeRedirect.addListener(later<chrome.webRequest.OnBeforeRedirectDetails>((it) => base.redirects(it)), filter, ['responseHeaders'])
  web.onHeadersReceived.addListener(later<chrome.webRequest.OnHeadersReceivedDetails>((it) => base.headers(it)), { urls, types: ['main_frame'] }, ['responseHeaders'])
  web.onResponseStarted.addListener(later<chrome.webRequest.OnResponseStartedDetails>((it) => base.answers(it)), filter, ['responseHeaders'])
  web.onCompleted.addListener(later<chrome.webRequest.OnCompletedDetails>((it) => base.ends(it)), filter)
  web.onErrorOccurred.addListener(later<chrome.webRequest.OnErrorOccurredDetails>((it) => base.fails(it)), filter)
}
