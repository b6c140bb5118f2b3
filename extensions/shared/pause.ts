// A pause that can be ended, in Node.js and in a browser alike.

/** Waits; fails with the signal's reason once that says so. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, ended) => {
    if (signal.aborted) {
      ended(signal.reason)
      return
    }
    const stop = () => {
      clearTimeout(timer)
      ended(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      done()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
