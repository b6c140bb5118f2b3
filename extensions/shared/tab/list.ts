// One list of a tab, of its lines or of its requests: bounded, in order, and where it goes on.
//
// What is new and what has changed come in the same way: an item takes the place of the one with its key.

import type { Schemas } from '../schemas.ts'
import type { Keyed } from './shown.ts'

type Gap = Schemas['Gap']

/** One answer of the node. */
export interface Answer<T> {
  items: T[]
  /** Where what is new from now on begins. */
  cursor: number
  gaps: Gap[]
  /** There are older ones, which were not asked for. */
  older: boolean
}

/** What has changed in a list. */
export interface Change<T> {
  /** All that was there before counts no more. */
  anew: boolean
  /** What is new, or takes the place of the item with the same key. */
  put: T[]
  /** What has this key or a lower one is gone. */
  floor: number
  /** What is missing, in a sentence; empty when nothing is. */
  missing: string
}

/** A list. */
export class List<T extends Keyed> {
  cursor: number | undefined
  private readonly kept = new Map<number, T>()
  private floor = 0
  private gaps: Gap[] = []
  private cut = false

  constructor(
    private readonly noun: string,
    private readonly most: number,
  ) {}

  /** Takes an answer; what is changed by it. */
  take(answer: Answer<T>): Change<T> {
    // Numbers of another life of the tab say nothing about those that are kept.
    const anew = answer.gaps.some((gap) => gap.reason === 'restarted' && gap.seq == null)
    if (anew) this.forget()
    this.cursor = answer.cursor
    this.gaps.push(...answer.gaps)
    this.cut ||= answer.older
    for (const item of answer.items) if (item.key > this.floor) this.kept.set(item.key, item)
    this.shrink()
    const put = answer.items.filter((item) => item.key > this.floor)
    return { ...this.change(put), anew }
  }

  /** All of it, for a page that has nothing yet. */
  whole(): Change<T> {
    return { ...this.change(this.sorted()), anew: true }
  }

  /** Drops what is there; what changes of it later stays away too. */
  clear(): Change<T> {
    this.floor = Math.max(this.floor, ...this.kept.keys())
    this.kept.clear()
    this.gaps = []
    this.cut = false
    return this.change([])
  }

  get(key: number): T | undefined {
    return this.kept.get(key)
  }

  private forget(): void {
    this.kept.clear()
    this.gaps = []
    this.floor = 0
    this.cut = false
  }

  private shrink(): void {
    const over = this.kept.size - this.most
    if (over <= 0) return
    this.cut = true
    for (const { key } of this.sorted().slice(0, over)) {
      this.kept.delete(key)
      this.floor = Math.max(this.floor, key)
    }
  }

  private sorted(): T[] {
    return [...this.kept.values()].sort((a, b) => a.key - b.key)
  }

  private change(put: T[]): Change<T> {
    const cut = this.cut ? [`Only the latest ${this.noun} are shown.`] : []
    return { anew: false, put, floor: this.floor, missing: [...cut, ...missing(this.gaps, this.noun)].join(' ') }
  }
}

const REASONS: Record<Schemas['GapReason'], string> = {
  buffer_full: 'the node keeps no more of them',
  events_lost: 'lost on their way from the browser',
  disconnected: 'the browser was not connected',
  first_load: 'the page had begun to load before anyone looked',
  restarted: 'the browser or the node began anew',
}

/** What is missing, a sentence for each reason. */
export function missing(gaps: Gap[], noun: string): string[] {
  const reasons = new Set(gaps.map((gap) => gap.reason))
  return [...reasons].map((reason) => {
    const of = gaps.filter((gap) => gap.reason === reason)
    const known = of.reduce((sum, gap) => sum + (gap.missing ?? 0), 0)
    const least = of.some((gap) => gap.missing == null || gap.at_least === true)
    const what = known === 0 ? `Some ${noun} may be` : `${least ? 'At least ' : ''}${known} ${noun} ${known === 1 ? 'is' : 'are'}`
    return `${what} missing: ${REASONS[reason]}.`
  })
}
