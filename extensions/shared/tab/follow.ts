// Follows one list by the node's own long poll: each answer says where the next question goes on.

import { pause } from '../pause.ts'
import type { Schemas } from '../schemas.ts'
import type { Answer } from './list.ts'
import { type Line, lineOf, type Request, requestOf } from './shown.ts'

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
    await pause(TOGETHER_MS, signal)
  }
}

/** A question for one list of a tab. */
export type Question = {
  params: { path: { token: string }; query: { wait: number } }
  body: { limit: number; after?: number }
  signal: AbortSignal
}

/** A node that is asked for what tabs do: each time the one, and with the key, that counts by then. */
export interface TabNode {
  console(question: Question): Promise<Schemas['ConsoleData']>
  network(question: Question): Promise<Schemas['NetworkData']>
}

/** Asks for lines of a tab's console, for so many at most. */
export function asksLines(node: TabNode, token: string, most: number): Ask<Line> {
  return async (after, wait, signal) => {
    const found = await node.console(question(token, most, after, wait, signal))
    return { items: found.entries.map(lineOf), ...place(found) }
  }
}

/** Asks for requests of a tab, for so many at most. */
export function asksRequests(node: TabNode, token: string, most: number): Ask<Request> {
  return async (after, wait, signal) => {
    const found = await node.network(question(token, most, after, wait, signal))
    return { items: found.requests.map(requestOf), ...place(found) }
  }
}

function question(token: string, limit: number, after: number | undefined, wait: number, signal: AbortSignal): Question {
  return { params: { path: { token }, query: { wait } }, body: { limit, ...(after === undefined ? {} : { after }) }, signal }
}

function place(found: Schemas['ConsoleData'] | Schemas['NetworkData']) {
  return { cursor: found.cursor ?? 0, gaps: found.gaps ?? [], older: found.older != null }
}
