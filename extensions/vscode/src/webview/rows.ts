// The rows of a list: in order, filtered, and at the end as long as the reader is there.

import type { Change } from '../../../shared/tab/list.ts'
import type { Keyed } from '../../../shared/tab/shown.ts'
import { showText } from './dom.ts'

/** How far from the end counts as the end, in pixels. */
const NEAR = 8

/** Shows the items of a list. */
export class Rows<T extends Keyed> {
  private readonly items = new Map<number, { item: T; row: HTMLElement }>()

  constructor(
    private readonly place: HTMLElement,
    private readonly missing: HTMLElement,
    private readonly make: (item: T) => HTMLElement,
    private readonly fits: (item: T) => boolean,
  ) {}

  /** Takes what has changed. */
  take(change: Change<T>): void {
    this.atEnd(() => {
      if (change.anew) this.drop(() => true)
      this.drop((key) => key <= change.floor)
      for (const item of change.put) this.put(item)
    })
    showText(this.missing, change.missing)
  }

  /** Looks anew which rows fit. */
  filter(): void {
    this.atEnd(() => {
      for (const { item, row } of this.items.values()) row.hidden = !this.fits(item)
    })
  }

  private put(item: T): void {
    const row = this.make(item)
    row.dataset.key = String(item.key)
    row.hidden = !this.fits(item)
    const before = this.items.get(item.key)?.row
    this.items.set(item.key, { item, row })
    if (before === undefined) this.insert(item.key, row)
    else this.replace(before, row)
  }

  /** Nearly always the end: only what was told late has a place further up. */
  private insert(key: number, row: HTMLElement): void {
    let last = this.place.lastElementChild
    while (last instanceof HTMLElement && Number(last.dataset.key) > key) last = last.previousElementSibling
    if (last === null) this.place.prepend(row)
    else last.after(row)
  }

  private replace(before: HTMLElement, row: HTMLElement): void {
    const hadFocus = before === document.activeElement
    row.tabIndex = before.tabIndex
    const selected = before.getAttribute('aria-selected')
    if (selected !== null) row.setAttribute('aria-selected', selected)
    before.replaceWith(row)
    if (hadFocus) row.focus({ preventScroll: true })
  }

  private drop(isGone: (key: number) => boolean): void {
    for (const [key, { row }] of this.items) {
      if (!isGone(key)) continue
      row.remove()
      this.items.delete(key)
    }
  }

  private atEnd(change: () => void): void {
    const { place } = this
    const wasAtEnd = place.scrollHeight - place.scrollTop - place.clientHeight < NEAR
    change()
    if (wasAtEnd) place.scrollTop = place.scrollHeight
  }
}
