// What the extension knows of a node at an instant, and how it gets to know it.

import { type Board, readBoard } from './board.ts'
import { type Failure, failureOf } from './node/failure.ts'
import { ask, type Node, type Schemas } from './node/node.ts'

/** How it stands with the node. */
export type Link = 'connecting' | 'online' | 'none' | 'refused' | 'problem'

/** How the sessions stand here and at one peer, or why nobody knows. */
export interface PeerDifferences {
  peer: Schemas['PeerView']
  items: Schemas['SessionDifference'][]
  failure: Failure | undefined
}

/** All that is shown. */
export interface Known {
  link: Link
  failure: Failure | undefined
  sessions: Schemas['SessionSummary'][]
  /** There are more sessions than are shown. */
  more: boolean
  fingerprint: string | undefined
  peers: Schemas['PeerView'][]
  conflicts: Schemas['ConflictView'][]
  /** Nothing while nobody wants peers to be asked. */
  differences: PeerDifferences[] | undefined
  board: Board | undefined
  driven: Schemas['DrivenSession'][]
  tabs: Schemas['DebugTab'][]
  /** What the key does not show, or could not be had. */
  missing: string[]
}

/** How many sessions are shown. */
const MOST_SESSIONS = 1000
const PAGE = 200

/** Before anything is known. */
export const NOTHING: Known = {
  link: 'connecting',
  failure: undefined,
  sessions: [],
  more: false,
  fingerprint: undefined,
  peers: [],
  conflicts: [],
  differences: undefined,
  board: undefined,
  driven: [],
  tabs: [],
  missing: [],
}

/** What is known when the node cannot be asked. */
export function without(failure: Failure): Known {
  const link =
    failure.kind === 'none' || failure.kind === 'unreachable' ? 'none' : failure.kind === 'refused' ? 'refused' : 'problem'
  return { ...NOTHING, link, failure }
}

/** The board as an event or an answer tells it. */
export function withBoard(known: Known, view: Schemas['FederationView']): Known {
  return { ...known, board: readBoard(view.board), driven: view.sessions }
}

/** Asks the node for all that is shown; peers only when they are to be asked. */
export async function gather(node: Node, asksPeers: boolean): Promise<Known> {
  const missing: string[] = []
  const part = async <T>(what: string, request: Promise<T>, fallback: T): Promise<T> => {
    try {
      return await request
    } catch (error) {
      const failure = failureOf(error)
      // A node that is gone, or a key that counts no more, is no missing part.
      if (failure.kind !== 'node') throw failure
      if (failure.code !== 'not_on_board') missing.push(`${what}: ${failure.message}`)
      return fallback
    }
  }
  const { api } = node
  const [sessions, peers, conflicts, board, tabs] = await Promise.all([
    part('sessions', listSessions(node), { items: [], more: false }),
    part('peers', ask(api.GET('/sync/peers')), undefined),
    part('conflicts', ask(api.GET('/sync/conflicts')), { items: [] }),
    part('board', ask(api.GET('/federation')), { sessions: [] }),
    part('tabs', ask(api.GET('/debug/tabs')), { tabs: [] }),
  ])
  const confirmed = (peers?.items ?? []).filter(canBeAsked)
  const known: Known = {
    ...NOTHING,
    link: 'online',
    sessions: sessions.items,
    more: sessions.more,
    fingerprint: peers?.fingerprint,
    peers: peers?.items ?? [],
    conflicts: conflicts.items,
    differences: asksPeers ? await Promise.all(confirmed.map((peer) => compare(node, peer))) : undefined,
    tabs: tabs.tabs,
    missing,
  }
  return withBoard(known, board)
}

/** Whether a peer may be asked at all. */
export function canBeAsked(peer: Schemas['PeerView']): boolean {
  return peer.state === 'confirmed' && peer.hasKey && peer.url != null
}

/** How the sessions stand here and at a peer. */
export async function compare(node: Node, peer: Schemas['PeerView']): Promise<PeerDifferences> {
  try {
    const params = { path: { peer: peer.nodeId } }
    const { items } = await ask(node.api.GET('/sync/differences/{peer}', { params }))
    return { peer, items, failure: undefined }
  } catch (error) {
    return { peer, items: [], failure: failureOf(error) }
  }
}

async function listSessions(node: Node): Promise<{ items: Schemas['SessionSummary'][]; more: boolean }> {
  const items: Schemas['SessionSummary'][] = []
  let after: string | undefined
  do {
    const query = { limit: PAGE, ...(after === undefined ? {} : { after }) }
    const page = await ask(node.api.GET('/sessions', { params: { query } }))
    items.push(...page.items)
    after = page.next ?? undefined
  } while (after !== undefined && items.length < MOST_SESSIONS)
  return { items, more: after !== undefined }
}
