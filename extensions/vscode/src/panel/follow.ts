// Follows one list by the node's own long poll: each answer says where the next question goes on.

import { setTimeout as pause } from 'node:timers/promises'
import { ask, type Node, type Schemas } from '../node/node.ts'
import type { Answer } from './list.ts'
import { type Line, lineOf, MOST, type Request, requestOf } from './shown.ts'

/** How long the node waits for something new, in seconds. */
const WAIT_S = 20
/** What comes within this time is asked for at once. */
const TOGETHER_MS = 100

/** Asks for what is new after a cursor; without one for the newest. */
export type Ask<T> = (after: number | undefined, signal: AbortSignal) => Promise<Answer<T>>

/** Asks again and again, until the signal or a failure ends it. */
export async function follow<T>(
  ask: Ask<T>,
  from: number | undefined,
  told: (answer: Answer<T>) => void,
  signal: AbortSignal,
): Promise<never> {
  let after = from
  for (;;) {
    const answer = await ask(after, signal)
    signal.throwIfAborted()
    after = answer.cursor
    told(answer)
    await pause(TOGETHER_MS, undefined, { signal })
  }
}

/** Asks for lines of a tab's console. */
export function asksLines(node: Node, token: string): Ask<Line> {
  return async (after, signal) => {
    const found = await ask(node.api.POST('/debug/tabs/{token}/console', { ...question(token, after), signal }))
    return { items: found.entries.map(lineOf), ...place(found) }
  }
}

/** Asks for requests of a tab. */
export function asksRequests(node: Node, token: string): Ask<Request> {
  return async (after, signal) => {
    const found = await ask(node.api.POST('/debug/tabs/{token}/network', { ...question(token, after), signal }))
    return { items: found.requests.map(requestOf), ...place(found) }
  }
}

function question(token: string, after: number | undefined) {
  // The first answer comes at once: that there is nothing yet is news, too.
  const wait = after === undefined ? 0 : WAIT_S
  return { params: { path: { token }, query: { wait } }, body: { limit: MOST, ...(after === undefined ? {} : { after }) } }
}

function place(found: Schemas['ConsoleData'] | Schemas['NetworkData']) {
  return { cursor: found.cursor ?? 0, gaps: found.gaps ?? [], older: found.older != null }
}
