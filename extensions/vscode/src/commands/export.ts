// Exports a session: to a peer, or to a file that only its owner may read.

import * as vscode from 'vscode'
import { ask, type Node, type Schemas } from '../node/node.ts'
import { canBeAsked } from '../peers.ts'
import { Cancelled, type Command, given, progress, say } from './command.ts'
import { writePrivate } from './file.ts'
import { move } from './move.ts'
import { pickPeer, pickSession } from './pick.ts'

type Session = Schemas['SessionSummary']

export const exportSession: Command = async ({ hub }, row) => {
  const node = await hub.node()
  const session = await pickSession(node, row?.subject, 'Export which session?', () => true)
  const ways = [
    { label: '$(cloud-upload) To a peer', detail: 'saved, and moved there sealed', way: 'peer' as const },
    { label: '$(file) As a session file', detail: 'everything, for another Baton', way: 'session' as const },
    { label: '$(file) As a storageState', detail: 'what Playwright can read', way: 'storage-state' as const },
  ]
  const { way } = given(await vscode.window.showQuickPick(ways, { title: `Export ${session.name}` }))
  if (way === 'peer') await toPeer(node, session)
  else await toFile(node, session, way)
  await hub.look()
}

async function toPeer(node: Node, session: Session): Promise<void> {
  const peer = await pickPeer(node, undefined, `Export ${session.name} to`, canBeAsked)
  const params = { path: { id: session.id } }
  const moved = await progress(`moving ${session.name} to ${peer.name}`, async (told, token) => {
    await ask(node.patient.POST('/sessions/{id}/save', { params, body: {} }))
    return move(node, 'push', peer.nodeId, session.id, told, token)
  })
  say(
    `${session.name} ${moved.outcome === 'unchanged' ? 'was there already' : moved.outcome === 'conflict' ? 'is there, and in conflict' : 'is there'}: ${peer.name}`,
  )
}

async function toFile(node: Node, session: Session, format: 'session' | 'storage-state'): Promise<void> {
  const warning = `Whoever has this file is logged in as you are in ${session.name}.`
  given(await vscode.window.showWarningMessage(warning, { modal: true }, 'Export'))
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri
  const suggested = folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, `${session.name}.json`) }
  const { fsPath: path } = given(
    await vscode.window.showSaveDialog({ title: `Export ${session.name}`, filters: { JSON: ['json'] }, ...suggested }),
  )
  const view = await progress(`exporting ${session.name}`, async (_, token) => {
    const params = { path: { id: session.id }, query: { format } }
    const view = await ask(node.patient.GET('/sessions/{id}/export', { params }))
    if (token.isCancellationRequested) throw new Cancelled()
    await writePrivate(path, JSON.stringify(view.file, null, 2))
    return view
  })
  const lost = view.receipt.not_portable + view.receipt.rejected
  say(`${session.name} is in ${path}${lost > 0 ? `; ${lost} items that the format has no word for are not` : ''}`)
}
