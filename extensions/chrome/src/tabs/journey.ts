// Where tabs go: a page of a cocoon is looked at from its beginning, and no longer than the tab shows it.

import type { Cocoon, NetworkChange } from '../protocol.ts'
import type { Ears, Missed } from '../record/base.ts'
import type { Outbox } from './outbox.ts'
import type { Registry } from './registry.ts'
import { cocoonOf } from './scope.ts'
import type { Tab } from './tab.ts'
import type { Watcher } from './watch.ts'

/** What a journey works with. */
export interface Guide {
  readonly registry: Registry
  readonly outbox: Outbox
  readonly watcher: Watcher
  /** Those that may be looked at now; none when it is not paired. */
  cocoons(): readonly Cocoon[]
  /** A page that nobody knows as a cocoon's brings a token: the node may have a new cocoon. */
  ask(url: string): Promise<boolean>
  /** A tab is on its way to a page of a cocoon. */
  heads(): void
  /** A tab shows another page, or is gone. */
  arrived(tabId: number): void
}

export class Journey implements Ears {
  constructor(private readonly guide: Guide) {}

  /** A tab is on its way to a page, since then. */
  heads(tabId: number, url: string, at: number): void {
    const { registry } = this.guide
    const cocoon = cocoonOf(url, this.guide.cocoons())
    if (cocoon === undefined) {
      registry.turns(tabId)
      return
    }
    const tab = registry.heads(tabId, url, cocoon)
    const watch = registry.watch(tab)
    if (tab !== undefined) tab.note.mayMiss = watch?.isOnAt(at) !== true && !tab.note.isPaused
    if (tab === undefined || watch === undefined) {
      this.guide.heads()
      return
    }
    tab.note.firstLoad = !watch.isOnAt(at)
    watch.told.clear()
    // What the page before wrote is replayed, and is not told.
    if (!tab.note.isInside) tab.note.toldUntil = Math.max(tab.note.toldUntil, at)
    void watch.start()
    this.guide.heads()
  }

  brings(tabId: number, url: string, token: string): void {
    const cocoon = cocoonOf(url, this.guide.cocoons())
    if (cocoon === undefined) {
      void this.guide.ask(url).then((isKnown) => {
        if (isKnown) void this.arrives(tabId, url, token)
      })
      return
    }
    this.take(this.guide.registry.heads(tabId, url, cocoon), token)
  }

  private take(tab: Tab | undefined, token: string): void {
    if (tab === undefined || tab.isAccepted) return
    tab.note.offer = token
    // It may have been offered by the header of the page before, whose answer does not count any more.
    if (tab.offered !== tab.note.resume) tab.offered = undefined
    const { registry, outbox, watcher } = this.guide
    watcher.noted()
    // The tab of a page on its way, when the tab shows another cocoon's, is offered when it is there.
    if (registry.get(tab.note.tabId) === tab) {
      outbox.offer(tab)
      void registry.watch(tab)?.start()
    }
  }

  /** The page of a cocoon that was not known is there, or still on its way. */
  private async arrives(tabId: number, url: string, token: string): Promise<void> {
    const cocoon = cocoonOf(url, this.guide.cocoons())
    if (cocoon === undefined) return
    const tab = this.guide.registry.heads(tabId, url, cocoon)
    if (tab !== undefined) tab.note.firstLoad = tab.note.mayMiss = true
    this.take(tab, token)
    const top = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null)
    if (top !== null) this.shows(tabId, top.url, top.documentId)
  }

  /** A tab shows a page. */
  shows(tabId: number, url: string, documentId?: string): void {
    const { registry, outbox, watcher } = this.guide
    const before = registry.get(tabId)
    const cocoon = cocoonOf(url, this.guide.cocoons())
    let tab = registry.shows(tabId, url)
    // A page from the browser's memory brings no header: it is known, and waits for a reload.
    if (tab === undefined && cocoon !== undefined) tab = registry.heads(tabId, url, cocoon)
    if (before !== undefined && before !== tab && before.note.isEnded) outbox.flush(before)
    if (tab === undefined) {
      if (before !== undefined) watcher.noted()
      this.guide.arrived(tabId)
      return
    }
    const isOther = documentId !== undefined && documentId !== tab.note.documentId
    tab.note.isInside = true
    tab.note.isOnItsWay = false
    tab.note.url = url
    tab.note.documentId = documentId ?? tab.note.documentId
    const watch = registry.watch(tab)
    if (tab.grant() === undefined && !tab.isAccepted) {
      tab.ring.clear()
      void watch?.stop()
    } else {
      outbox.offer(tab)
      void watch?.start()
    }
    watcher.noted()
    if (isOther) this.guide.arrived(tabId)
    void this.looks(tabId)
  }

  /** Asks the browser what a tab is called now. */
  async looks(tabId: number): Promise<void> {
    const found = await chrome.tabs.get(tabId).catch(() => undefined)
    if (found !== undefined) this.updates(tabId, found)
  }

  /** A tab shows another address, without another page, or has another title. */
  updates(tabId: number, shown: { url?: string | undefined; title?: string | undefined; favIconUrl?: string | undefined }): void {
    const { registry, outbox, watcher } = this.guide
    const tab = registry.get(tabId)
    if (tab === undefined || shown.url === undefined || registry.of(tabId, shown.url) !== tab) return
    const { note } = tab
    const isSame = note.url === shown.url && note.title === (shown.title ?? note.title)
    note.url = shown.url
    note.title = shown.title ?? note.title
    const icon = shown.favIconUrl
    if (icon !== undefined && /^https?:/.test(icon)) note.favicon = icon
    if (isSame) return
    outbox.updated(tab)
    watcher.noted()
  }

  closed(tabId: number): void {
    const tab = this.guide.registry.end(tabId)
    if (tab !== undefined) this.guide.outbox.flush(tab)
    this.guide.arrived(tabId)
    this.guide.watcher.noted()
  }

  pause(tabId: number): void {
    const tab = this.guide.registry.get(tabId)
    if (tab === undefined) return
    this.pauses(tab)
    void this.guide.registry.watch(tab)?.stop()
    this.guide.watcher.noted()
  }

  private pauses({ note }: Tab): void {
    note.isPaused = true
    note.mayMiss = false
    note.pausedAt = note.documentId
  }

  resume(tabId: number): void {
    const tab = this.guide.registry.get(tabId)
    if (tab === undefined) return
    tab.note.isPaused = false
    tab.note.toldUntil = Date.now()
    void this.guide.registry.watch(tab)?.start()
    this.guide.watcher.noted()
  }

  /** Secrets of a tab are told from now on, or no longer. */
  reveal(tabId: number, on: boolean): void {
    const tab = this.guide.registry.get(tabId)
    if (tab === undefined) return
    tab.reveal(on)
    this.guide.outbox.reveals(tab)
    this.guide.watcher.noted()
  }

  /** The browser detached: the person said so, or the tab shows what may not be looked at. */
  detached(tabId: number, reason: string): void {
    const tab = this.guide.registry.get(tabId)
    this.guide.registry.watch(tab)?.off()
    if (tab !== undefined && reason === 'canceled_by_user') this.pauses(tab)
    this.guide.watcher.noted()
  }

  find(tabId: number, url: string, isPage: boolean, initiator: string | undefined, at: number): Tab | undefined {
    const { registry } = this.guide
    const tab = isPage ? registry.of(tabId, url) : registry.get(tabId)
    if (tab === undefined || tab.note.isPaused || registry.watch(tab)?.covers(at) === true) return undefined
    if (isPage || tab.note.isInside) return tab
    const { origin, path } = tab.note.cocoon
    return initiator === origin && path === '/' ? tab : undefined
  }

  misses({ tabId, method, url, initiator, documentId, parentDocumentId }: Missed): Tab | 'later' | undefined {
    const { registry } = this.guide
    if (!registry.mayMiss(tabId)) return undefined
    const tab = registry.get(tabId)
    if (tab === undefined) return 'later'
    const { cocoon, isInside, documentId: shown, pausedAt, isPaused, mayMiss } = tab.note
    // What another page asked for is nobody's business, also when it comes to its end only now.
    const isOfPage = isInside && shown !== undefined && (documentId === shown || parentDocumentId === shown)
    if (!isOfPage && (initiator !== cocoon.origin || cocoon.path !== '/')) return 'later'
    if (isPaused || mayMiss !== true || (pausedAt !== undefined && documentId === pausedAt)) return undefined
    return this.isTold(tab, method, url) ? undefined : tab
  }

  isTold(tab: Tab, method: string, url: string): boolean {
    return this.guide.registry.watch(tab)?.told.take(method, url) === true
  }

  tell(tab: Tab, change: NetworkChange): void {
    this.guide.watcher.tell(tab, { type: 'browser_debug_network_event', source: 'webRequest', ...change })
  }

  loses(tab: Tab, events: number): void {
    tab.ring.lose(events)
    this.guide.watcher.noted()
  }
}
