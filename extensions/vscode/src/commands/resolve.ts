// Resolves a conflict: both sides are shown beside each other, and a person says which one counts.

import * as vscode from 'vscode'
import { age } from '../../../shared/amounts.ts'
import type { Documents } from '../conflict/documents.ts'
import { pages } from '../conflict/pages.ts'
import { Failure } from '../node/failure.ts'
import { ask, type Node, type Schemas } from '../node/node.ts'
import { shortRev } from '../words/amounts.ts'
import { type Command, given, say } from './command.ts'

/** The command, with where the two sides are shown. */
export function resolveConflict(documents: Documents): Command {
  return async ({ hub }, row) => {
    const node = await hub.node()
    const session = row?.subject ?? (await pick(node))
    const params = { path: { session } }
    const details = await ask(node.api.GET('/sync/conflicts/{session}', { params }))
    const name = await namer(node)
    const sibling = await pickSibling(details, name)
    const { current, sibling: other } = pages(details, sibling.rev, name, Date.now())
    await documents.compare(details.name, [shortRev(details.current.rev), current], [shortRev(sibling.rev), other])
    const keep = await choose(details, sibling, name)
    await ask(node.patient.POST('/sync/conflicts/{session}', { params, body: { keep } }))
    await documents.close(details.name)
    await hub.look()
    say(`${details.name}: ${shortRev(keep)} counts from now on. "Baton: Sync Now" tells the peers`)
  }
}

async function pick(node: Node): Promise<string> {
  const { items } = await ask(node.api.GET('/sync/conflicts'))
  const [first, ...others] = items
  if (first === undefined) throw new Failure('node', 'no session is in conflict')
  if (others.length === 0) return first.sessionId
  const picks = items.map((one) => ({ label: one.name, id: one.sessionId }))
  return given(await vscode.window.showQuickPick(picks, { title: 'Resolve which conflict?' })).id
}

async function pickSibling(details: Schemas['ConflictDetails'], name: (id: string) => string): Promise<Schemas['RevisionView']> {
  const [first, ...others] = details.siblings
  if (first === undefined) throw new Failure('node', `${details.name} is not in conflict any more`)
  if (others.length === 0) return first
  const picks = details.siblings.map((revision) => ({ ...worded(revision, name), revision }))
  return given(await vscode.window.showQuickPick(picks, { title: 'Compare what counts now with' })).revision
}

async function choose(
  details: Schemas['ConflictDetails'],
  sibling: Schemas['RevisionView'],
  name: (id: string) => string,
): Promise<string> {
  const picks = [
    { ...worded(details.current, name), detail: 'left: what counts now goes on counting', rev: details.current.rev },
    { ...worded(sibling, name), detail: 'right: this one counts from now on', rev: sibling.rev },
  ]
  const title = `Which revision of ${details.name} counts?`
  return given(await vscode.window.showQuickPick(picks, { title, placeHolder: 'Escape decides nothing', ignoreFocusOut: true }))
    .rev
}

function worded(revision: Schemas['RevisionView'], name: (id: string) => string): { label: string; description: string } {
  return { label: shortRev(revision.rev), description: `${name(revision.nodeId)}, ${age(revision.lastModified, Date.now())}` }
}

async function namer(node: Node): Promise<(id: string) => string> {
  const { self, items } = await ask(node.api.GET('/sync/peers'))
  const names = new Map([[self.nodeId, 'this node'], ...items.map((peer) => [peer.nodeId, peer.name] as [string, string])])
  return (id) => names.get(id) ?? id.slice(0, 8)
}
