// The way back to a tab of which nothing comes any more.
//
// A node that was started anew has other tokens for the same tabs: the tab that stands in the place of the old
// one is taken, when there is exactly one.

import type { Known } from '../known.ts'
import type { Failure } from '../node/failure.ts'
import type { Node, Schemas } from '../node/node.ts'

type Tab = Schemas['DebugTab']

/** What is needed of the hub. */
export interface Source {
  readonly known: Known
  readonly onChange: (listener: (known: Known) => void) => { dispose(): void }
  node(): Promise<Node>
  reconnect(): Promise<void>
  lookSoon(): void
}

/** Waits for news that let hope for an answer; the tab to ask for then. */
export function wayBack(source: Source, tab: Tab, failure: Failure, signal: AbortSignal): Promise<Tab> {
  const isGone = failure.code === 'tab_gone'
  const back = news(source, signal, (known) => {
    if (known.link !== 'online') return undefined
    return heir(known.tabs, tab) ?? (isGone ? undefined : tab)
  })
  if (isGone) source.lookSoon()
  // The hub may not have noticed yet.
  else if (failure.kind === 'unreachable' && source.known.link === 'online') void source.reconnect()
  return back
}

/** The tab itself, else the only one of the same browser and owner that shows the same address. */
export function heir(tabs: Tab[], tab: Tab): Tab | undefined {
  const same = tabs.find((one) => one.token === tab.token)
  if (same !== undefined) return same
  const [first, ...others] = tabs.filter(
    (one) => one.cocoon_id === tab.cocoon_id && one.browser_id === tab.browser_id && one.url === tab.url,
  )
  return others.length === 0 ? first : undefined
}

/** Waits until news hold what is looked for. */
function news<T>(source: Source, signal: AbortSignal, look: (known: Known) => T | undefined): Promise<T> {
  return new Promise((found, ended) => {
    const stop = () => {
      subscription.dispose()
      ended(signal.reason)
    }
    const subscription = source.onChange((known) => {
      const seen = look(known)
      if (seen === undefined) return
      subscription.dispose()
      signal.removeEventListener('abort', stop)
      found(seen)
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}
