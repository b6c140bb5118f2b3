// The way back to a tab of which nothing comes any more.

import { setTimeout as pause } from 'node:timers/promises'
import { heir } from '../../../shared/tab/heir.ts'
import type { Known } from '../known.ts'
import type { Failure } from '../node/failure.ts'
import { ask, type Node, type Schemas } from '../node/node.ts'

type Tab = Schemas['DebugTab']

/** What is needed of the hub. */
export interface Source {
  readonly known: Known
  readonly onChange: (listener: (known: Known) => void) => { dispose(): void }
  node(): Promise<Node>
  reconnect(): Promise<void>
  lookSoon(): void
}

/** The first and the longest pause before the node is asked again. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/** How long to wait, longer each time. */
export class Patience {
  private next = FIRST_PAUSE_MS

  async wait(signal: AbortSignal): Promise<void> {
    const wait = this.next
    this.next = Math.min(wait * 2, LONGEST_PAUSE_MS)
    await pause(wait, undefined, { signal })
  }

  /** Begins anew: it went well. */
  reset(): void {
    this.next = FIRST_PAUSE_MS
  }
}

/** Waits for news that the node answers; what hinders it meanwhile is told. */
export function online(
  source: Source,
  failure: Failure,
  hindered: (failure: Failure) => void,
  signal: AbortSignal,
): Promise<void> {
  const back = news(source, signal, (known) => {
    if (known.link === 'online') return true
    if (known.link !== 'connecting') hindered(known.failure ?? failure)
    return false
  })
  // The hub may not have noticed yet.
  if (failure.kind !== 'node' && source.known.link === 'online') void source.reconnect()
  return back
}

/** Asks, ever more seldom, until there is a tab in the place of the one that is gone. */
export async function heirOf(source: Source, tab: Tab, signal: AbortSignal): Promise<Tab> {
  const patience = new Patience()
  for (;;) {
    await patience.wait(signal)
    const { api } = await source.node()
    const { items: tabs } = await ask(api.GET('/debug/tabs', { signal }))
    const found = heir(tabs, tab)
    if (found !== undefined) return found
  }
}

/** Waits until news fit. */
function news(source: Source, signal: AbortSignal, fits: (known: Known) => boolean): Promise<void> {
  return new Promise((found, ended) => {
    const stop = () => {
      subscription.dispose()
      ended(signal.reason)
    }
    const subscription = source.onChange((known) => {
      if (!fits(known)) return
      subscription.dispose()
      signal.removeEventListener('abort', stop)
      found()
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}
