// The requests that the debugger tells of, counted by method and address until they are answered.

import { OPEN_REQUESTS } from '../limits.ts'
import { makeRoom } from '../room.ts'

export class Told {
  private readonly counts = new Map<string, number>()

  /** One more. */
  put(method: string, url: string): void {
    if (!/^(http|ws)/.test(url)) return
    makeRoom(this.counts, OPEN_REQUESTS)
    const key = keyOf(method, url)
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
  }

  /** One was answered; whether it is one of them. */
  take(method: string, url: string): boolean {
    const key = keyOf(method, url)
    const count = this.counts.get(key)
    if (count === undefined) return false
    if (count > 1) this.counts.set(key, count - 1)
    else this.counts.delete(key)
    return true
  }

  clear(): void {
    this.counts.clear()
  }
}

/** What follows `#` is not sent. */
function keyOf(method: string, url: string): string {
  const end = url.indexOf('#')
  return `${method} ${end < 0 ? url : url.slice(0, end)}`
}
