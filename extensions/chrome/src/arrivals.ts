// What happens while the worker wakes up, in the order in which it happened.
//
// The browser keeps what woke the worker, and tells it late: after what happens in the meantime. So
// everything waits until that is there, and is put in order.

/** How long nothing of what woke the worker has come when all of it is there, in milliseconds. */
const QUIET_MS = 50
/** How long after its beginning the worker waits for it at most, in milliseconds. */
const LONGEST_MS = 1_000

interface Arrived {
  at: number
  what: () => void
}

/** Puts the first events of the worker's life in order; later ones are taken as they come. */
export class Arrivals {
  private held: Arrived[] | undefined = []
  private isReady = false
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly waiting: (() => void)[] = []

  /** `born` is when the worker's life began. */
  constructor(private readonly born = Date.now()) {}

  /** Something happened then, in milliseconds since 1970; now, when the browser does not say. */
  put(what: () => void, at = Date.now()): void {
    if (this.held === undefined) {
      what()
      return
    }
    this.held.push({ at, what })
    if (at < this.born) this.settle(QUIET_MS)
  }

  /** Nothing else has to be waited for; resolves when everything is in order. */
  ready(): Promise<void> {
    this.isReady = true
    if (this.timer === undefined) this.settle(this.born + LONGEST_MS - Date.now())
    return new Promise((done) => this.waiting.push(done))
  }

  private settle(after: number): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      if (this.isReady) this.open()
      else this.settle(QUIET_MS)
    }, Math.max(0, after))
  }

  private open(): void {
    const held = this.held ?? []
    this.held = undefined
    held.sort((one, other) => one.at - other.at)
    for (const { what } of held) what()
    for (const done of this.waiting) done()
  }
}
