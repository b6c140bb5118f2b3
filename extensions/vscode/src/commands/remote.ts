// Lists what peers have: how old, how large, where; and brings one of it here.

import { age, size } from '../../../shared/amounts.ts'
import { Failure } from '../node/failure.ts'
import { ask, type Node, type Schemas } from '../node/node.ts'
import { canBeAsked, compare, type PeerDifferences } from '../peers.ts'
import { choose, type Line } from './choose.ts'
import { type Command, progress, say } from './command.ts'
import { move } from './move.ts'

/** A session as it stands at one peer or more. */
interface Remote extends Line {
  session: Schemas['SessionDifference']
  peer: Schemas['PeerView']
}

export const listRemoteSessions: Command = async ({ hub }, row) => {
  const node = await hub.node()
  await bring(node, row?.subject)
  await hub.look()
}

/** Picks one, and brings it here. */
export async function bring(node: Node, subject: string | undefined): Promise<void> {
  const peers = (await ask(node.api.GET('/sync/peers'))).items.filter(canBeAsked)
  const asked = peers.filter((peer) => subject === undefined || peer.nodeId === subject)
  if (asked.length === 0)
    throw new Failure('node', 'no peer can be asked', 'run "Baton: Register a Peer", and confirm its fingerprint')
  const found = await progress('asking peers', () => Promise.all(asked.map((peer) => compare(node, peer))))
  const picks = found.flatMap(remotes)
  const silent = found.filter((one) => one.failure !== undefined)
  if (picks.length === 0) {
    const why = silent.map((one) => `${one.peer.name}: ${one.failure?.message}`).join('; ')
    throw new Failure(
      'node',
      why === '' ? 'no peer has a saved session' : `no peer answers: ${why}`,
      why === '' ? 'save one there with "baton save NAME"' : 'start it, or register it again',
    )
  }
  const placeholder =
    silent.length === 0 ? 'Pick one to bring it here' : `${silent.map((one) => one.peer.name).join(', ')} does not answer`
  const chosen = await choose(node, picks, { title: 'Sessions at peers', placeholder })
  if (chosen.session.difference === 'same') return say(`${chosen.session.name} is here already, as it is at ${chosen.peer.name}`)
  const moved = await progress(`bringing ${chosen.session.name}`, (told, token) =>
    move(node, 'pull', chosen.peer.nodeId, chosen.session.sessionId, told, token),
  )
  const ends = {
    moved: 'is here',
    unchanged: 'is here already',
    conflict: 'is here, and in conflict: "Baton: Resolve a Conflict"',
    deleted: 'was deleted there, and now here',
    unfinished: 'is not whole yet',
  }
  say(`${moved.name} ${ends[moved.outcome]}`)
}

function remotes({ peer, items }: PeerDifferences): Remote[] {
  const words = { same: 'here too', ahead: 'older than here', behind: 'newer than here', diverged: 'changed here and there' }
  return items
    .filter((session) => session.there && !session.deleted)
    .map((session) => ({
      label: session.name,
      description: `${peer.name}, ${age(session.lastModified, Date.now())}, ${size(session.size)}`,
      detail: session.here ? words[session.difference] : 'not here',
      whereabouts: { id: session.sessionId, here: session.here, peer: peer.nodeId },
      session,
      peer,
    }))
}
