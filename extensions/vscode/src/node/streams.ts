// What a node tells by itself, as three streams: that sessions or tabs are others, how sync stands, the board.

import { events } from './events.ts'
import { Failure } from './failure.ts'
import { ask, type Node, type Schemas } from './node.ts'

/** What is done with what a node tells. */
export interface Listener {
  /** Sessions or tabs are others than before. */
  changed(): void
  sync(standing: Schemas['SyncStanding']): void
  board(view: Schemas['FederationView']): void
  /** The node tells nothing of it: the key may not hear it, or it cannot be found out now. */
  silent(what: 'sync' | 'board', error: unknown): void
  /** The node has ended, or cannot be heard any more. */
  ended(): void
}

/** Opens the streams; once it returns, no change is missed. Fails when the node does not even tell of changes. */
export async function listen(node: Node, asksPeers: boolean, signal: AbortSignal, listener: Listener): Promise<void> {
  const how = { parseAs: 'stream', signal } as const
  const query = { peers: asksPeers }
  const [changes, sync, board] = await Promise.allSettled([
    ask(node.streams.GET('/events', how)),
    ask(node.streams.GET('/sync/events', { ...how, params: { query } })),
    ask(node.streams.GET('/federation/events', how)),
  ])
  if (changes.status === 'rejected') throw changes.reason
  const readers: Promise<void>[] = [read(changes.value, () => listener.changed())]
  if (sync.status === 'rejected') listener.silent('sync', sync.reason)
  else
    readers.push(
      read(sync.value, (event, data) => {
        if (event === 'sync') listener.sync(JSON.parse(data) as Schemas['SyncStanding'])
        else if (event === 'problem') listener.silent('sync', problem(data))
      }),
    )
  if (board.status === 'rejected') listener.silent('board', board.reason)
  else
    readers.push(
      read(board.value, (event, data) => {
        if (event === 'board') listener.board(JSON.parse(data) as Schemas['FederationView'])
        else if (event === 'problem') listener.silent('board', problem(data))
      }),
    )
  void Promise.race(readers).finally(() => {
    if (!signal.aborted) listener.ended()
  })
}

/** Reads a stream to its end. A node that is gone ends it as well. */
async function read(stream: unknown, told: (event: string, data: string) => void): Promise<void> {
  try {
    for await (const { event, data } of events(stream as AsyncIterable<Uint8Array>)) told(event, data)
  } catch {
    // Why it ended shows when the node is asked again.
  }
}

function problem(data: string): Failure {
  const { detail, hint, code } = JSON.parse(data) as Schemas['Problem']
  return new Failure('node', detail, hint ?? undefined, code)
}
