// Peers, as commands ask them: whether one can be asked, and how the sessions stand here and there.

import { type Failure, failureOf } from './node/failure.ts'
import { ask, type Node, type Schemas } from './node/node.ts'

/** How the sessions stand here and at one peer, or why nobody knows. */
export interface PeerDifferences {
  peer: Schemas['PeerView']
  items: Schemas['SessionDifference'][]
  failure: Failure | undefined
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
