// The newest events of a tab, with their numbers, until the node has them.
//
// Numbers are given once, from 1 on. What does not fit any more leaves a hole in them, which the node
// shows as a gap.

import { MESSAGE_BYTES, RING_BYTES, RING_EVENTS } from '../limits.ts'
import { bytesIn } from '../secrets/cut.ts'

/** How many events wait for each other at most, and the bytes of one that does not wait. */
const TOGETHER = 50
const LARGE = 32 << 10

interface Kept {
  seq: number
  json: string
  bytes: number
}

/** The newest events of a tab, as JSON. */
export class Ring {
  private kept: Kept[] = []
  private bytes = 0
  /** How many went that had not been sent. */
  dropped: number
  /** The last number that was given. */
  last: number
  /** The last number that was sent. */
  sent: number

  constructor(
    { last = 0, sent = 0, dropped = 0 }: { last?: number; sent?: number; dropped?: number } = {},
    private readonly limits = { events: RING_EVENTS, bytes: RING_BYTES },
  ) {
    this.last = last
    this.sent = sent
    this.dropped = dropped
  }

  /** Keeps an event. */
  push(json: string): void {
    this.last += 1
    const bytes = bytesIn(json)
    if (bytes > Math.min(this.limits.bytes, MESSAGE_BYTES - 1024)) {
      this.dropped += 1
      return
    }
    this.kept.push({ seq: this.last, json, bytes })
    this.bytes += bytes
    while (this.kept.length > this.limits.events || this.bytes > this.limits.bytes) this.dropOldest()
  }

  /** So many events will never come: a hole, as of what does not fit. */
  lose(events: number): void {
    this.last += events
    this.dropped += events
  }

  private dropOldest(): void {
    const oldest = this.kept.shift()
    if (oldest === undefined) return
    this.bytes -= oldest.bytes
    if (oldest.seq > this.sent) this.dropped += 1
  }

  /** The event that is to be sent next. */
  next(): { seq: number; json: string } | undefined {
    const from = this.kept[0]?.seq ?? 0
    if (this.last <= this.sent) return undefined
    // Numbers of what is kept go up, mostly by one: the place is near its distance from the first.
    let at = Math.min(Math.max(0, this.sent + 1 - from), this.kept.length)
    while (at > 0 && (this.kept[at - 1]?.seq ?? 0) > this.sent) at -= 1
    return this.kept[at]
  }

  /** Whether so much waits to be sent that it should not wait for more. */
  isFilling(): boolean {
    return this.last - this.sent >= TOGETHER || (this.kept.at(-1)?.bytes ?? 0) >= LARGE
  }

  /** The node has all events up to this one; what comes after is to be sent again. */
  rewind(seq: number): void {
    this.sent = Math.min(seq, this.last)
  }

  /** Counts on behind a number that was given before, by a life of the worker that forgot it. */
  skipTo(seq: number): void {
    const by = seq + 1 - (this.kept[0]?.seq ?? this.last + 1)
    if (by <= 0) return
    this.kept = this.kept.map((kept) => ({ ...kept, seq: kept.seq + by }))
    this.last += by
  }

  /** Puts something else in the place of each event that is kept. */
  rewrite(how: (json: string) => string): void {
    this.kept = this.kept.map(({ seq, json }) => {
      const changed = how(json)
      return { seq, json: changed, bytes: bytesIn(changed) }
    })
    this.bytes = this.kept.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Forgets what is kept. */
  clear(): void {
    this.kept = []
    this.bytes = 0
  }
}
