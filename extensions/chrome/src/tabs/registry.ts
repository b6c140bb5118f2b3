// The tabs that are looked at, each with its debugger.

import { TABS } from '../limits.ts'
import type { Cocoon } from '../protocol.ts'
import { isWithin } from './scope.ts'
import { Tab, type TabNote } from './tab.ts'
import { Watch, type Watcher } from './watch.ts'

export class Registry {
  private readonly current = new Map<number, Tab>()
  /** The cocoon's tab to which a page on its way belongs, when the tab shows another cocoon's now. */
  private readonly next = new Map<number, Tab>()
  /** Tabs that are gone, of which the node does not have everything yet. */
  private readonly ended = new Set<Tab>()
  private readonly watches = new Map<Tab, Watch>()

  constructor(private readonly watcher: Watcher) {}

  /** Takes the tabs over from the worker's life before. */
  revive(notes: TabNote[]): void {
    for (const note of notes) {
      const tab = new Tab(note, true)
      if (note.isEnded) this.ended.add(tab)
      else this.put(tab, true)
    }
  }

  private put(tab: Tab, isAdopted = false): void {
    this.current.set(tab.note.tabId, tab)
    this.watches.set(tab, new Watch(tab, this.watcher, isAdopted))
  }

  get(tabId: number): Tab | undefined {
    return this.current.get(tabId)
  }

  watch(tab: Tab | undefined): Watch | undefined {
    return tab === undefined ? undefined : this.watches.get(tab)
  }

  /** The tab to which a page belongs that it shows or is on its way to. */
  of(tabId: number, url: string): Tab | undefined {
    const both = [this.next.get(tabId), this.current.get(tabId)]
    return both.find((tab) => tab !== undefined && isWithin(url, tab.note.cocoon))
  }

  /** A tab is on its way to a page of a cocoon: the tab for it. */
  heads(tabId: number, url: string, cocoon: Cocoon): Tab | undefined {
    const known = this.of(tabId, url)
    if (known !== undefined) {
      if (known === this.current.get(tabId)) this.drop(tabId)
      known.note.isOnItsWay = !known.note.isInside
      return known
    }
    if (this.current.size >= TABS) return undefined
    const tab = Tab.create(tabId, cocoon, url)
    if (this.current.has(tabId)) this.next.set(tabId, tab)
    else this.put(tab)
    return tab
  }

  /** The page that a tab was on its way to does not come. */
  private drop(tabId: number): void {
    this.next.get(tabId)?.redactor.close()
    this.next.delete(tabId)
  }

  /** A tab is on its way to a page that is no cocoon's. */
  turns(tabId: number): void {
    this.drop(tabId)
    const tab = this.current.get(tabId)
    if (tab !== undefined) tab.note.isOnItsWay = false
  }

  /** The tab shows a page: the tab to which it belongs from now on. What it was before ends. */
  shows(tabId: number, url: string): Tab | undefined {
    const now = this.current.get(tabId)
    const next = this.next.get(tabId)
    if (now !== undefined && isWithin(url, now.note.cocoon)) return now
    const isNext = next !== undefined && isWithin(url, next.note.cocoon)
    // A page that it was on its way to before may still come.
    if (now?.note.isOnItsWay === true && !isNext) return undefined
    if (isNext) this.next.delete(tabId)
    if (now !== undefined) this.end(tabId)
    if (!isNext) return undefined
    this.put(next)
    return next
  }

  /** The tab is gone, or is elsewhere: the node is told as soon as it has the rest. */
  end(tabId: number): Tab | undefined {
    const tab = this.current.get(tabId)
    this.drop(tabId)
    if (tab === undefined) return undefined
    const watch = this.watches.get(tab)
    watch?.leaves()
    void watch?.stop()
    this.current.delete(tabId)
    this.watches.delete(tab)
    tab.note.isEnded = true
    if (tab.grant() === undefined) {
      tab.redactor.close()
      return undefined
    }
    const [oldest] = this.ended
    if (this.ended.size >= TABS && oldest !== undefined) this.gone(oldest)
    this.ended.add(tab)
    return tab
  }

  gone(tab: Tab): void {
    this.ended.delete(tab)
    tab.redactor.close()
  }

  /** Whether requests may have begun unheard of the page that a tab shows or is on its way to. */
  mayMiss(tabId: number): boolean {
    return this.current.get(tabId)?.note.mayMiss === true || this.next.get(tabId)?.note.mayMiss === true
  }

  /** Whether some page, shown or on its way, is not told of by the debugger alone. */
  lacks(at: number): boolean {
    return this.next.size > 0 || [...this.watches.values()].some((watch) => watch.lacks(at))
  }

  /** Those that are open. */
  open(): Tab[] {
    return [...this.current.values()]
  }

  /** All, in the order in which they came. */
  all(): Tab[] {
    return [...this.ended, ...this.current.values()]
  }

  notes(): TabNote[] {
    return this.all().map((tab) => tab.noted())
  }
}
