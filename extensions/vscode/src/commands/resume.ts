// Brings a session back, and says what came with it.

import * as vscode from 'vscode'
import { ask, type Schemas } from '../node/node.ts'
import { count } from '../words/amounts.ts'
import { type Command, progress } from './command.ts'
import { pickSession } from './pick.ts'

export const resumeSession: Command = async ({ hub }, row) => {
  const node = await hub.node()
  const session = await pickSession(
    node,
    row?.subject,
    'Resume which session?',
    (one) => one.state !== 'active' && one.state !== 'closed',
  )
  const params = { path: { id: session.id } }
  const resumed = await progress(`resuming ${session.name}`, () => ask(node.patient.POST('/sessions/{id}/resume', { params })))
  await hub.look()
  const { receipt } = resumed
  const lost = (receipt?.rejected ?? 0) + (receipt?.not_portable ?? 0)
  const message = `Baton: ${session.name} is back, ${count(receipt?.restored ?? 0, 'item')} restored${lost > 0 ? `, ${lost} lost` : ''}`
  const show = lost > 0 ? vscode.window.showWarningMessage : vscode.window.showInformationMessage
  // The command is done; who wants the receipt asks for it later.
  void show(message, ...(receipt == null ? [] : ['Show the Receipt'])).then((chosen) => {
    if (chosen !== undefined && receipt != null) void showReceipt(session.name, receipt)
  })
}

async function showReceipt(name: string, receipt: Schemas['Receipt']): Promise<void> {
  const lines = receipt.items.map(
    (item) => `${item.outcome}  ${item.kind}  ${item.where}${item.reason == null ? '' : `: ${item.reason}`}`,
  )
  const document = await vscode.workspace.openTextDocument({ content: [`${name}, what came back:`, '', ...lines, ''].join('\n') })
  await vscode.window.showTextDocument(document, { preview: true })
}
