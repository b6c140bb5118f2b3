// What is listened for of `chrome.webRequest`: always a little, and all while the debugger misses a page.
//
// Of whatever is listened for the browser tells of every request of every tab, and that costs those pages
// more than anything else here. So beginnings and ends are listened for only while a page needs it. Until
// the browser has taken such a listener up it tells of nothing; so answers and failures are listened for
// always: each says where its request went, how, and what came of it.
//
// The browser names listeners in the order in which a life of the worker adds them, and wakes a worker for
// those names. So what is added at the beginning of a life is added in the same order in each.

import type { BaseLayer } from './base.ts'

/** How often it is looked whether a page still needs it, in milliseconds. */
const LOOK_MS = 300

type Run = (what: () => void, at: number) => void
type Heard<T> = (details: T) => undefined

/** Whether what begins, and what ends, is listened for. */
export interface Needs {
  begins: boolean
  ends: boolean
}

/** Registers a layer's ears with the browser. */
export class Listeners {
  private readonly sites: string[][] = []
  private readonly on: Needs = { begins: true, ends: true }
  private readonly begins: Heard<chrome.webRequest.OnBeforeRequestDetails>
  private readonly ends: Heard<chrome.webRequest.OnCompletedDetails>
  private isReady = false
  private timer: ReturnType<typeof setTimeout> | undefined

  /** `run` says when the layer is told of what happened then; `needs` what it has to be told now. */
  constructor(
    private readonly base: BaseLayer,
    private readonly run: Run,
    private readonly needs: () => Needs,
  ) {
    this.begins = this.later((it) => this.base.begins(it))
    this.ends = this.later((it) => this.base.ends(it))
  }

  private later<T extends { timeStamp: number }>(what: (details: T) => void): Heard<T> {
    return (details) => {
      this.run(() => what(details), details.timeStamp)
      return undefined
    }
  }

  /** Listens to these sites. */
  add(urls: string[]): void {
    const { base } = this
    const web = chrome.webRequest
    const all = { urls }
    const pages: chrome.webRequest.RequestFilter = { urls, types: ['main_frame'] }
    web.onBeforeRequest.addListener(this.later<chrome.webRequest.OnBeforeRequestDetails>((it) => base.begins(it)), pages)
    web.onHeadersReceived.addListener(this.later<chrome.webRequest.OnHeadersReceivedDetails>((it) => base.headers(it)), pages, ['responseHeaders'])
    web.onBeforeRedirect.addListener(this.later<chrome.webRequest.OnBeforeRedirectDetails>((it) => base.redirects(it)), all, ['responseHeaders'])
    web.onResponseStarted.addListener(this.later<chrome.webRequest.OnResponseStartedDetails>((it) => base.answers(it)), all, ['responseHeaders'])
    web.onCompleted.addListener(this.later<chrome.webRequest.OnCompletedDetails>((it) => base.ends(it)), pages)
    web.onErrorOccurred.addListener(this.later<chrome.webRequest.OnErrorOccurredDetails>((it) => base.fails(it)), all)
    this.sites.push(urls)
    if (this.on.begins) web.onBeforeRequest.addListener(this.begins, withoutPages(urls))
    if (this.on.ends) web.onCompleted.addListener(this.ends, withoutPages(urls))
  }

  /** What the worker's life before left is known: from now on only what is needed is listened for. */
  ready(): void {
    this.isReady = true
    this.look()
  }

  /** Listens for what is needed, and for no more. */
  look(): void {
    if (!this.isReady) return
    clearTimeout(this.timer)
    const { begins, ends } = this.needs()
    const web = chrome.webRequest
    if (begins !== this.on.begins) this.turn(web.onBeforeRequest, this.begins, begins)
    if (ends !== this.on.ends) this.turn(web.onCompleted, this.ends, ends)
    this.on.begins = begins
    this.on.ends = ends
    if (begins || ends) this.timer = setTimeout(() => this.look(), LOOK_MS)
  }

  private turn<T>(event: Event<T>, listener: Heard<T>, on: boolean): void {
    if (!on) event.removeListener(listener)
    else for (const urls of this.sites) event.addListener(listener, withoutPages(urls))
  }
}

interface Event<T> {
  addListener(listener: Heard<T>, filter: chrome.webRequest.RequestFilter): void
  removeListener(listener: Heard<T>): void
}

/** Pages are listened for always. */
function withoutPages(urls: string[]): chrome.webRequest.RequestFilter {
  const types = Object.values(chrome.webRequest.ResourceType).filter((type) => type !== 'main_frame')
  return { urls, types }
}
