// The layer below the debugger: `chrome.webRequest`, which sees the first page from its first request on.
//
// It has no bodies. The browser wakes a sleeping worker for it and tells it all that happened meanwhile.
// Where the beginning of a request was missed, its answer or its failure tells of it.

import { OPEN_REQUESTS } from '../limits.ts'
import type { NetworkChange, Requested } from '../protocol.ts'
import { makeRoom } from '../room.ts'
import { isWithin } from '../tabs/scope.ts'
import type { Tab } from '../tabs/tab.ts'
import { headersOf, kindOf, statusTextOf } from './words.ts'

/** The header by which a cocoon's page says that it can be looked at. */
const TOKEN_HEADER = 'x-adi-debug-token'

/** How much is kept at most that happened to requests of a page before the tab shows it. */
const EARLY = 200

/** What the layer tells. */
export interface Ears {
  /** A tab is on its way to a page, since then. */
  heads(tabId: number, url: string, at: number): void
  /** The page on its way brings a token. */
  brings(tabId: number, url: string, token: string): void
  /** The tab of which this request is told by this layer; none when it is not, or by the debugger. */
  find(tabId: number, url: string, isPage: boolean, initiator: string | undefined, at: number): Tab | undefined
  /**
   * The tab of which this request, whose beginning was missed, is told by this layer; none when it is not.
   * `later` when it may be of a page that the tab is about to show.
   */
  misses(missed: Missed): Tab | 'later' | undefined
  /** Whether the debugger told of a request that was answered now; it is taken off its list. */
  isTold(tab: Tab, method: string, url: string): boolean
  tell(tab: Tab, change: NetworkChange): void
  /** So many events of a tab will never be told. */
  loses(tab: Tab, events: number): void
}

/** What is known of a request whose beginning was missed. */
export interface Missed {
  tabId: number
  url: string
  method: string
  /** The origin that sent it. */
  initiator: string | undefined
  /**
   * The page or the frame that sent it, and the one in which that is. What a page sends before the browser
   * knows that it is there has the page before it.
   */
  documentId: string | undefined
  parentDocumentId: string | undefined
}

type Details =
  | chrome.webRequest.OnBeforeRequestDetails
  | chrome.webRequest.OnBeforeRedirectDetails
  | chrome.webRequest.OnResponseStartedDetails
  | chrome.webRequest.OnErrorOccurredDetails

interface Open {
  tab: Tab
  begun: number
  isPage: boolean
  /** Its beginning was missed: nobody knows how long it took. */
  isMissed: boolean
  /** The tab shows another page since then: its end may never be told. */
  isOver?: boolean
  isRedirected?: { status: number; text: string | undefined; headers: chrome.webRequest.HttpHeader[] | undefined }
}

/** Puts what `chrome.webRequest` says into the words of the protocol. */
export class BaseLayer {
  private readonly open = new Map<string, Open>()
  private readonly frames = new Map<string, string>()
  /** Requests that were answered, and of which this layer does not tell. */
  private readonly left = new Set<string>()
  /** What happened to requests that may be of the next page of a tab. */
  private readonly early = new Map<number, (() => void)[]>()
  private isThere = false

  constructor(private readonly ears: Ears) {}

  begins(details: chrome.webRequest.OnBeforeRequestDetails): void {
    const { requestId, tabId, url, type, frameId, timeStamp, initiator, documentLifecycle } = details
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
    this.begin(details, tab, before, false)
  }

  private begin(details: Details, tab: Tab, before: Open | undefined, isMissed: boolean): Open {
    const { requestId, tabId, url, method, type, frameId, timeStamp } = details
    const data: Requested = { request_id: requestId, timestamp: Math.round(timeStamp), method, url, resource_type: kindOf(type) }
    const frame = frameId > 0 ? this.frames.get(`${tabId} ${frameId}`) : undefined
    if (frame !== undefined) data.frame = frame
    if (before?.isRedirected !== undefined) {
      const { status, text, headers } = before.isRedirected
      const all = headersOf(headers)
      data.redirect_response = { status, ...(text !== undefined && { status_text: text }), ...(all && { headers: all }) }
    }
    const open = { tab, begun: timeStamp, isPage: type === 'main_frame', isMissed }
    this.note(requestId, open)
    this.ears.tell(tab, { event: 'request', data })
    return open
  }

  /** The request to which something happened; one whose beginning was missed is told now. */
  private known(details: Details, again: () => void): Open | undefined {
    const { requestId, tabId, url, method, type, initiator, documentId, parentDocumentId, documentLifecycle } = details
    const open = this.open.get(requestId)
    if (open?.isRedirected !== undefined) return this.begin(details, open.tab, open, true)
    if (open !== undefined) {
      this.ears.isTold(open.tab, method, url)
      return open
    }
    if (tabId < 0 || type === 'main_frame' || documentLifecycle === 'prerender' || this.left.has(requestId)) return undefined
    const tab = this.ears.misses({ tabId, url, method, initiator, documentId, parentDocumentId })
    if (tab === 'later') {
      this.wait(tabId, again)
      return undefined
    }
    if (tab !== undefined) return this.begin(details, tab, undefined, true)
    makeRoom(this.left, OPEN_REQUESTS)
    this.left.add(requestId)
    return undefined
  }

  private wait(tabId: number, what: () => void): void {
    if (this.isThere) return
    const waiting = this.early.get(tabId) ?? []
    if (waiting.length >= EARLY) waiting.shift()
    waiting.push(what)
    this.early.set(tabId, waiting)
  }

  /** The tab shows another page, or none: what happened early is taken now, if it is of that page. */
  arrived(tabId: number): void {
    const waiting = this.early.get(tabId) ?? []
    this.early.delete(tabId)
    this.isThere = true
    for (const one of waiting) one()
    this.isThere = false
  }

  /** Whether the end of a request is to come that is told by this layer, pages aside. */
  isWaiting(): boolean {
    for (const { tab, isPage, isOver } of this.open.values()) if (!isPage && isOver !== true && !tab.note.isEnded) return true
    return false
  }

  redirects(details: chrome.webRequest.OnBeforeRedirectDetails): void {
    const open = this.known(details, () => this.redirects(details))
    if (open === undefined) return
    open.isRedirected = {
      status: details.statusCode,
      text: statusTextOf(details.statusLine),
      headers: details.responseHeaders,
    }
  }

  /** The tab is about to show another page: what is open was the page's before. */
  private turn(tabId: number): void {
    for (const open of this.open.values()) if (open.tab.note.tabId === tabId) open.isOver = true
  }

  headers(details: chrome.webRequest.OnHeadersReceivedDetails): void {
    const { tabId, url, type, responseHeaders, statusCode, documentLifecycle } = details
    if (documentLifecycle === 'prerender') return
    if (type !== 'main_frame' || tabId < 0 || (statusCode >= 300 && statusCode < 400)) return
    const token = responseHeaders?.find(({ name }) => name.toLowerCase() === TOKEN_HEADER)?.value
    if (token !== undefined && token !== '') this.ears.brings(tabId, url, token)
  }

  answers(details: chrome.webRequest.OnResponseStartedDetails): void {
    if (details.type === 'main_frame') this.turn(details.tabId)
    const open = this.known(details, () => this.answers(details))
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
    const data = { request_id: requestId, timestamp: Math.round(timeStamp), ...lasted(open, timeStamp) }
    this.ears.tell(open.tab, { event: 'finished', data })
  }

  fails(details: chrome.webRequest.OnErrorOccurredDetails): void {
    const { requestId, timeStamp, error } = details
    const open = this.known(details, () => this.fails(details))
    this.left.delete(requestId)
    if (open === undefined) return
    this.open.delete(requestId)
    const data = { request_id: requestId, timestamp: Math.round(timeStamp), error, ...lasted(open, timeStamp) }
    this.ears.tell(open.tab, { event: 'failed', data })
  }

  private note(id: string, open: Open): void {
    const lost = new Map<Tab, number>()
    makeRoom(this.open, OPEN_REQUESTS, (oldest) => {
      const tab = this.open.get(oldest)?.tab
      if (tab !== undefined) lost.set(tab, (lost.get(tab) ?? 0) + 1)
    })
    for (const [tab, events] of lost) this.ears.loses(tab, events)
    this.open.set(id, open)
  }

  private place(tabId: number, frameId: number, url: string): void {
    makeRoom(this.frames, OPEN_REQUESTS)
    this.frames.set(`${tabId} ${frameId}`, url)
  }
}

/** How long it took, if its beginning was seen. */
function lasted(open: Open, now: number): { duration_ms?: number } {
  return open.isMissed ? {} : { duration_ms: Math.max(0, Math.round(now - open.begun)) }
}
