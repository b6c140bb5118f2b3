// Asking which session or peer is meant.

import * as vscode from 'vscode'
import { age } from '../../../shared/amounts.ts'
import { Failure } from '../node/failure.ts'
import { ask, type Node, type Schemas } from '../node/node.ts'
import { choose } from './choose.ts'
import { given } from './command.ts'

type Session = Schemas['SessionSummary']
type Peer = Schemas['PeerView']

/** The session of the row, else the one that is picked. */
export async function pickSession(
  node: Node,
  subject: string | undefined,
  title: string,
  fits: (session: Session) => boolean,
): Promise<Session> {
  if (subject !== undefined) return ask(node.api.GET('/sessions/{id}', { params: { path: { id: subject } } }))
  const { items } = await ask(node.api.GET('/sessions', { params: { query: { limit: 200 } } }))
  const fitting = items.filter(fits)
  if (fitting.length === 0)
    throw new Failure('node', 'no session here fits', 'open one with "baton open URL --name NAME", or import one')
  const picks = fitting.map((session) => ({
    label: session.name,
    description: `${session.state}, ${age(session.updated_at, Date.now())}`,
    detail: session.description,
    whereabouts: { id: session.id, here: true },
    session,
  }))
  return (await choose(node, picks, { title })).session
}

/** The peer of the row, else the one that is picked, or the only one. */
export async function pickPeer(
  node: Node,
  subject: string | undefined,
  title: string,
  fits: (peer: Peer) => boolean,
): Promise<Peer> {
  const { items } = await ask(node.api.GET('/sync/peers'))
  const fitting = items.filter((peer) => (subject === undefined ? fits(peer) : peer.nodeId === subject))
  const [first, ...others] = fitting
  if (first === undefined) throw new Failure('node', 'no peer fits', 'run "Baton: Register a Peer", and confirm its fingerprint')
  if (others.length === 0 && subject !== undefined) return first
  const picks = fitting.map((peer) => ({
    label: peer.name,
    description: peer.url ?? '',
    detail: `${peer.state}, ${peer.status}`,
    peer,
  }))
  return given(await vscode.window.showQuickPick(picks, { title })).peer
}
