// The browser's clocks: requests are timed by one that only goes on, and all else by the time of day.

/** Maps seconds of the clock that only goes on to milliseconds since 1970. */
export class Clock {
  private ahead: number | undefined

  constructor(private readonly now: () => number = Date.now) {}

  /** A request was sent at both instants, in seconds. */
  set(monotonic: number, wall: number): void {
    this.ahead = wall - monotonic
  }

  /** Before the first request nobody knows what the clock says: then it is now. */
  at(monotonic: number): number {
    if (this.ahead === undefined) return Math.round(this.now())
    return Math.max(0, Math.round((monotonic + this.ahead) * 1000))
  }
}
