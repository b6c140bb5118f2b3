// Icons of sessions: where they are, and how many are asked for at once. A list never waits for them.

import { ask, type Node } from './node/node.ts'

/** How many icons one list asks for. */
const MOST = 50
/** How many at once: an icon at a peer takes two networks. */
const AT_ONCE = 6
/** An icon is a PNG of 32×32; what is larger is none. */
const MOST_BYTES = 16 << 10
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** A session, and where it is. */
export interface Whereabouts {
  id: string
  here: boolean
  /** The peer that has it, by its id. */
  peer?: string
}

/** The icon of a session as an address that holds it: the one here, else the one at the peer. */
export async function iconOf(node: Node, session: Whereabouts, signal: AbortSignal): Promise<string | undefined> {
  const { id, here, peer } = session
  const rest = { signal, parseAs: 'arrayBuffer' } as const
  const own = () => node.api.GET('/sessions/{id}/icon', { params: { path: { id } }, ...rest })
  const theirs = (peer: string) =>
    node.api.GET('/sync/icons/{peer}/{session}', { params: { path: { peer, session: id } }, ...rest })
  const found = here ? await pictured(ask(own())) : undefined
  return found ?? (peer === undefined || signal.aborted ? undefined : await pictured(ask(theirs(peer))))
}

/** Does something with each of the first of these, a few at a time, until it is told to stop. */
export async function forEach<T>(items: readonly T[], signal: AbortSignal, work: (item: T) => Promise<void>): Promise<void> {
  const left = items.slice(0, MOST).values()
  const worker = async () => {
    for (const item of left) {
      if (signal.aborted) return
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** What is a PNG as an address that holds it. A session without an icon, and a peer that is silent, have none. */
async function pictured(request: Promise<unknown>): Promise<string | undefined> {
  try {
    const bytes = Buffer.from((await request) as ArrayBuffer)
    const isIcon = bytes.length <= MOST_BYTES && bytes.subarray(0, PNG.length).equals(PNG)
    return isIcon ? `data:image/png;base64,${bytes.toString('base64')}` : undefined
  } catch {
    return undefined
  }
}
