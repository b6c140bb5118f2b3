// What the status bar says of sync, in a word or two.

import type { Known } from '../known.ts'
import type { Schemas } from '../node/node.ts'
import { canBeAsked } from '../peers.ts'

/** What a place in the status bar shows. */
export interface Shown {
  icon: string
  text: string
  tooltip: string
  loud: boolean
  /** What a click runs. */
  command: string
}

/** What waits to be moved. */
export interface Waiting {
  pull: number
  push: number
}

/** Counts sessions that a peer has newer, or has older. */
export function waiting(peers: Schemas['PeerStanding'][]): Waiting {
  const [pull, push] = [new Set<string>(), new Set<string>()]
  for (const { sessionId, difference } of peers.flatMap((one) => one.items ?? [])) {
    if (difference === 'behind' || difference === 'diverged') pull.add(sessionId)
    if (difference === 'ahead') push.add(sessionId)
  }
  return { pull: pull.size, push: push.size }
}

/** What it says. The loudest counts: no node, a conflict, a silent peer, what waits. */
export function syncShown(known: Known): Shown {
  if (known.link === 'connecting') return shown('sync~spin', 'connecting', 'Baton looks for the node', 'baton.refresh')
  if (known.link !== 'online') return noNode(known)
  const missing = known.missing.find((one) => one.what === 'sync')
  if (missing !== undefined) return shown('warning', 'sync unknown', `Not shown: ${missing.why}`, 'baton.refresh', true)
  if (known.sync === undefined) return shown('sync~spin', 'asking', 'The node finds out how sync stands', 'baton.refresh')
  const { conflicts, peers } = known.sync
  if (conflicts.length > 0) {
    const names = conflicts.map((one) => one.name).join(', ')
    return shown(
      'git-compare',
      'conflict',
      `Changed here and elsewhere: ${names}. Click to choose`,
      'baton.resolveConflict',
      true,
    )
  }
  if (!known.asksPeers) {
    return shown('check', 'ready', 'Peers are not asked: baton.syncEnabled is off', 'workbench.view.extension.baton')
  }
  return askedShown(peers.filter((one) => canBeAsked(one.peer)))
}

function askedShown(peers: Schemas['PeerStanding'][]): Shown {
  if (peers.length === 0) {
    return shown('check', 'no peers', 'No peer is confirmed and can be asked. Click to register one', 'baton.registerPeer')
  }
  const failing = peers.filter((one) => one.problem != null)
  if (failing.length > 0) {
    const told = failing.map((one) => `${one.peer.name}: ${one.problem?.detail}`).join('\n')
    if (failing.some((one) => one.peer.status === 'offline'))
      return shown('debug-disconnect', 'offline', `A peer does not answer\n${told}`, 'baton.syncNow', true)
    return shown('warning', 'refused', `A peer answers, and nothing moves\n${told}`, 'baton.registerPeer', true)
  }
  if (peers.some((one) => one.items == null)) {
    return shown('sync~spin', 'asking', 'Peers are asked for what they have', 'baton.refresh')
  }
  return moves(waiting(peers))
}

function noNode(known: Known): Shown {
  const why = known.failure?.text ?? 'no node answers'
  if (known.link === 'refused') return shown('key', 'key wanted', why, 'baton.setKey', true)
  const command =
    known.failure?.kind === 'settings' ? 'baton.openSettings' : known.link === 'none' ? 'baton.startNode' : 'baton.refresh'
  return shown('debug-disconnect', 'offline', why, command, known.link === 'problem')
}

function moves({ pull, push }: Waiting): Shown {
  if (pull + push === 0) return shown('check', 'synced', 'Every peer has what is saved here', 'baton.syncNow')
  const words = [pull > 0 ? `${pull} to pull` : '', push > 0 ? `${push} to push` : ''].filter((word) => word !== '')
  return shown('sync', words.join(', '), 'Click to move it', 'baton.syncNow')
}

function shown(icon: string, text: string, tooltip: string, command: string, loud = false): Shown {
  return { icon, text, tooltip, command, loud }
}
