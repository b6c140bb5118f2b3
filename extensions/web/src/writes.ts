// Which sessions were written since they were asked for: a number for each, which counts up.

import { signal } from '@preact/signals'

/** How many are remembered by themselves; beyond that, all are taken to be others. */
const MOST = 1_000

/** Counts writes. Whoever reads a number hears of the next one. */
export class Writes {
  private readonly changed = signal(0)
  private everything = 0
  private readonly of = new Map<string, number>()

  /** Something of this session was written. */
  touch(id: string): void {
    if (this.of.size >= MOST) this.everything += 1
    if (this.of.size >= MOST) this.of.clear()
    this.of.set(id, (this.of.get(id) ?? 0) + 1)
    this.changed.value += 1
  }

  /** Something was written, and of which session is not known. */
  all(): void {
    this.everything += 1
    this.of.clear()
    this.changed.value += 1
  }

  /** Forgets. */
  clear(): void {
    this.all()
  }

  /** What has to be asked for again once it is another one. */
  stamp(id: string): string {
    return this.changed.value < 0 ? '' : `${this.everything}.${this.of.get(id) ?? 0}`
  }
}
