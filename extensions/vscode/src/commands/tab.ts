// Looks into a debug tab: shows it in the panel, copies its address, saves what is kept of it as an archive.

import * as vscode from 'vscode'
import { Failure } from '../node/failure.ts'
import { ask, type Node, type Schemas } from '../node/node.ts'
import type { TabView } from '../panel/view.ts'
import { Cancelled, type Command, given, progress, say } from './command.ts'
import { writePrivate } from './file.ts'

type Tab = Schemas['DebugTab']

/** Shows it in the panel. */
export function showTab(view: TabView): Command {
  return async ({ hub }, row) => view.show(await pickTab(await hub.node(), row?.subject, 'Look into which tab?'))
}

/** Copies the address that it shows now. */
export const copyTabAddress: Command = async ({ hub }, row) => {
  const tab = await pickTab(await hub.node(), row?.subject, 'Copy the address of which tab?')
  await vscode.env.clipboard.writeText(tab.url)
}

/** Saves an archive (HAR 1.2) that only its owner may read; without a row of the tab that the panel shows. */
export function saveHar(view: TabView): Command {
  return async ({ hub }, row) => {
    const node = await hub.node()
    const tab = await pickTab(node, row?.subject ?? view.tab?.token, 'Save the requests of which tab?')
    const name = `${(tab.cocoon_name ?? 'tab').replaceAll(/[^\p{L}\p{N}._-]/gu, '_')}.har`
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri
    const suggested = folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, name) }
    const filters = { 'HTTP Archive': ['har'] }
    const { fsPath: path } = given(await vscode.window.showSaveDialog({ title: 'Save as HAR', filters, ...suggested }))
    await progress('saving what is kept of the tab', async (_, token) => {
      const har = await ask(node.patient.GET('/debug/tabs/{token}/har', { params: { path: { token: tab.token } } }))
      if (token.isCancellationRequested) throw new Cancelled()
      await writePrivate(path, JSON.stringify(har, null, 2))
    })
    say(`the requests of ${tab.title || tab.url} are in ${path}`)
  }
}

/** The tab of the row, else the one that is picked. */
async function pickTab(node: Node, token: string | undefined, title: string): Promise<Tab> {
  const { items: tabs } = await ask(node.api.GET('/debug/tabs'))
  const named = tabs.find((tab) => tab.token === token)
  if (named !== undefined) return named
  if (token !== undefined) throw new Failure('node', 'this tab is gone', 'run "Baton: Look Again", and choose another one')
  if (tabs.length === 0)
    throw new Failure('node', 'no tab can be looked into', 'open a session with "baton open URL --name NAME --debug"')
  const picks = tabs.map((tab) => ({ label: tab.title || tab.url, description: tab.cocoon_name ?? '', detail: tab.url, tab }))
  return given(await vscode.window.showQuickPick(picks, { title, matchOnDescription: true, matchOnDetail: true })).tab
}
