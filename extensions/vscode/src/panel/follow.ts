// Follows one list by the node's own long poll: each answer says where the next question goes on.

import { setTimeout as pause } from 'node:timers/promises'
import { ask, type Schemas } from '../node/node.ts'
import type { Source } from './back.ts'
import type { Answer } from './list.ts'
import { type Line, lineOf, MOST, type Request, requestOf } from './shown.ts'

/** How long the node waits for something new, in seconds. */
const WAIT_S = 20
/** What comes within this time is asked for at once. */
const TOGETHER_MS = 100

/** Asks for what is new after a cursor, without one for the newest; the node may wait so many seconds for it. */
export type Ask<T> = (after: number | undefined, wait: number, signal: AbortSignal) => Promise<Answer<T>>

/** Asks again and again, until the signal or a failure ends it. */
export async function follow<T>(
  ask: Ask<T>,
  from: number | undefined,
  told: (answer: Answer<T>) => void,
  signal: AbortSignal,
): Promise<never> {
  let after = from
  // The first answer comes at once: that there is nothing new is news, too.
  for (let wait = 0; ; wait = WAIT_S) {
    const answer = await ask(after, wait, signal)
    signal.throwIfAborted()
    after = answer.cursor
    told(answer)
    await pause(TOGETHER_MS, undefined, { signal })
  }
}

/** Asks for lines of a tab's console: each time the node, and with the key, that counts by then. */
export function asksLines(source: Source, token: string): Ask<Line> {
  return async (after, wait, signal) => {
    const { api } = await source.node()
    const found = await ask(api.POST('/debug/tabs/{token}/console', { ...question(token, after, wait), signal }))
    return { items: found.entries.map(lineOf), ...place(found) }
  }
}

/** Asks for requests of a tab. */
export function asksRequests(source: Source, token: string): Ask<Request> {
  return async (after, wait, signal) => {
    const { api } = await source.node()
    const found = await ask(api.POST('/debug/tabs/{token}/network', { ...question(token, after, wait), signal }))
    return { items: found.requests.map(requestOf), ...place(found) }
  }
}

function question(token: string, after: number | undefined, wait: number) {
  return { params: { path: { token }, query: { wait } }, body: { limit: MOST, ...(after === undefined ? {} : { after }) } }
}

function place(found: Schemas['ConsoleData'] | Schemas['NetworkData']) {
  return { cursor: found.cursor ?? 0, gaps: found.gaps ?? [], older: found.older != null }
}
