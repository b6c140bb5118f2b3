// What the extension knows of a node at an instant: what it asked for, and what the node told by itself.

import { type Board, readBoard } from './board.ts'
import { type Failure, failureOf } from './node/failure.ts'
import { ask, type Node, type Schemas } from './node/node.ts'

/** How it stands with the node. */
export type Link = 'connecting' | 'online' | 'none' | 'refused' | 'problem'

/** What of a node is not shown, and why. */
export interface Missing {
  what: 'sessions' | 'sync' | 'board' | 'tabs' | 'fingerprint'
  why: string
}

/** All that is shown. */
export interface Known {
  link: Link
  failure: Failure | undefined
  sessions: Schemas['SessionSummary'][]
  /** There are more sessions than are shown. */
  more: boolean
  fingerprint: string | undefined
  /** Nothing before the node has told it. */
  sync: Schemas['SyncStanding'] | undefined
  /** Whether peers are asked for what they have. */
  asksPeers: boolean
  board: Board | undefined
  driven: Schemas['DrivenSession'][]
  tabs: Schemas['DebugTab'][]
  missing: Missing[]
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
  sync: undefined,
  asksPeers: false,
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

/** The board as an event tells it. */
export function withBoard(known: Known, view: Schemas['FederationView']): Known {
  return { ...heard(known, 'board'), board: readBoard(view.board), driven: view.sessions }
}

/** How sync stands, as an event tells it. */
export function withSync(known: Known, sync: Schemas['SyncStanding']): Known {
  return { ...heard(known, 'sync'), sync }
}

/** Something could not be had. An owner who has no board misses none. */
export function withMissing(known: Known, what: Missing['what'], failure: Failure): Known {
  if (failure.code === 'not_on_board') return known
  const rest = known.missing.filter((one) => one.what !== what)
  return { ...known, missing: [...rest, { what, why: failure.message }] }
}

/** What the node has to be asked for. */
export type Gathered = Pick<Known, 'sessions' | 'more' | 'tabs'>

/** Asks for what the node does not tell by itself, and says what could not be had. */
export async function gather(node: Node): Promise<(known: Known) => Known> {
  const failures: [Missing['what'], Failure][] = []
  const part = async <T>(what: Missing['what'], request: Promise<T>, fallback: T): Promise<T> => {
    try {
      return await request
    } catch (error) {
      const failure = failureOf(error)
      // A node that is gone, or a key that counts no more, is no missing part.
      if (failure.kind !== 'node') throw failure
      failures.push([what, failure])
      return fallback
    }
  }
  const [{ items, more }, { items: tabs }] = await Promise.all([
    part('sessions', listSessions(node), { items: [], more: false }),
    part('tabs', ask(node.api.GET('/debug/tabs')), { items: [] }),
  ])
  return (known) => {
    const asked = { ...heard(heard(known, 'sessions'), 'tabs'), sessions: items, more, tabs }
    return failures.reduce((all, [what, failure]) => withMissing(all, what, failure), asked)
  }
}

/** What people compare who register this node; nothing where the key does not show it. */
export async function fingerprintOf(node: Node): Promise<string | undefined> {
  const peers = await ask(node.api.GET('/sync/peers')).catch(() => undefined)
  return peers?.fingerprint
}

function heard(known: Known, what: Missing['what']): Known {
  return known.missing.some((one) => one.what === what)
    ? { ...known, missing: known.missing.filter((one) => one.what !== what) }
    : known
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
