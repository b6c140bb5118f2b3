// Moving sessions between this node and its peers, one after the other, until nothing is left or somebody cancels.

import type * as vscode from 'vscode'
import { Failure, failureOf } from '../node/failure.ts'
import { ask, type Node, type Schemas } from '../node/node.ts'
import { canBeAsked, compare } from '../peers.ts'
import { count } from '../words/amounts.ts'
import { Cancelled, type Command, progress, say } from './command.ts'

/**
 * How long the first step and the longest one go on, in seconds. A person hears how far it is, and can stop it,
 * after each; and each begins with the list of what there is, so those of a long way are longer.
 */
const FIRST_STEP_S = 2
const LONGEST_STEP_S = 16

/** Pulls or pushes one session to its end. A move that is cancelled leaves what was there as it was. */
export async function move(
  node: Node,
  way: 'pull' | 'push',
  peer: string,
  session: string,
  told: (message: string) => void,
  token: vscode.CancellationToken,
): Promise<Schemas['Movement']> {
  let [name, seconds] = ['it', FIRST_STEP_S]
  for (;;) {
    if (token.isCancellationRequested)
      throw new Cancelled(`${name} was not brought ${way === 'pull' ? 'here' : 'there'}; what has come waits for the next time`)
    const { patient } = node
    const params = { path: { peer, session }, query: { seconds } }
    const moved = await ask(
      way === 'pull'
        ? patient.POST('/sync/pull/{peer}/{session}', { params })
        : patient.POST('/sync/push/{peer}/{session}', { params }),
    )
    if (moved.outcome !== 'unfinished') return moved
    if (moved.parts === 0) throw new Failure('node', `nothing of ${moved.name} moves any more`, 'try again later')
    name = moved.name
    seconds = Math.min(seconds * 2, LONGEST_STEP_S)
    told(`${name}: ${count(moved.left ?? 0, 'part')} left`)
  }
}

export const syncNow: Command = async ({ hub }) => {
  const node = await hub.node()
  const peers = (await ask(node.api.GET('/sync/peers'))).items.filter(canBeAsked)
  if (peers.length === 0)
    throw new Failure('node', 'no peer can be asked', 'run "Baton: Register a Peer", and confirm its fingerprint')
  const ended = await progress('sync', async (told, token) => {
    const result = { moved: 0, conflicts: 0, failures: [] as string[] }
    for (const peer of peers) await syncWith(node, peer, result, told, token)
    return result
  })
  await hub.look()
  if (ended.failures.length > 0)
    throw new Failure('node', ended.failures.join('; '), 'run "Baton: Sync Now" again; the rest has moved')
  say(`${count(ended.moved, 'session')} moved${ended.conflicts > 0 ? `, ${count(ended.conflicts, 'conflict')}` : ''}`)
}

interface Result {
  moved: number
  conflicts: number
  failures: string[]
}

async function syncWith(
  node: Node,
  peer: Schemas['PeerView'],
  result: Result,
  told: (message: string) => void,
  token: vscode.CancellationToken,
): Promise<void> {
  const { items, failure } = await compare(node, peer)
  if (failure !== undefined) result.failures.push(`${peer.name}: ${failure.message}`)
  for (const { sessionId, name, difference } of items) {
    if (difference === 'same') continue
    told(`${name} and ${peer.name}`)
    try {
      const ways =
        difference === 'diverged'
          ? (['pull', 'push'] as const)
          : difference === 'behind'
            ? (['pull'] as const)
            : (['push'] as const)
      for (const way of ways) {
        const moved = await move(node, way, peer.nodeId, sessionId, told, token)
        if (moved.outcome === 'moved' || moved.outcome === 'deleted') result.moved++
        if (way === 'pull' && moved.outcome === 'conflict') result.conflicts++
      }
    } catch (error) {
      if (error instanceof Cancelled) throw error
      result.failures.push(`${name}: ${failureOf(error).message}`)
    }
  }
}
