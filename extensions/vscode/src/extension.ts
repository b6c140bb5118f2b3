// Where the extension begins: it registers what it offers, and looks for the node only after that.

import * as vscode from 'vscode'
import { registerCloud } from './cloud.ts'
import { type Command, run, say, type Tools } from './commands/command.ts'
import { exportSession } from './commands/export.ts'
import { importSession } from './commands/import.ts'
import { forgetKey, setKey } from './commands/key.ts'
import { startNode, stopNode } from './commands/local.ts'
import { syncNow } from './commands/move.ts'
import { handOverSession } from './commands/pass.ts'
import { confirmPeer, registerPeer } from './commands/register.ts'
import { listRemoteSessions } from './commands/remote.ts'
import { resolveConflict } from './commands/resolve.ts'
import { resumeSession } from './commands/resume.ts'
import { copyTabAddress, saveHar, showTab } from './commands/tab.ts'
import { Documents } from './conflict/documents.ts'
import { Hub } from './hub.ts'
import { provideMcp } from './mcp.ts'
import { failureOf } from './node/failure.ts'
import { TabView } from './panel/view.ts'
import type { Row } from './view/rows.ts'
import { showStatus } from './view/status.ts'
import { Tree } from './view/tree.ts'

export function activate(context: vscode.ExtensionContext): void {
  const { version } = context.extension.packageJSON as { version: string }
  const hub = new Hub(context.secrets, version)
  const tools: Tools = { hub, secrets: context.secrets }
  const documents = new Documents()
  const tree = new Tree(hub)
  const panel = new TabView(hub, context.extensionUri)
  const view = vscode.window.createTreeView('baton.tree', { treeDataProvider: tree, showCollapseAll: true })
  const commands: Record<string, Command> = {
    registerPeer,
    confirmPeer,
    listRemoteSessions,
    importSession,
    exportSession,
    resumeSession,
    handOverSession,
    resolveConflict: resolveConflict(documents),
    syncNow,
    showTab: showTab(panel),
    copyTabAddress,
    saveHar: saveHar(panel),
    startNode,
    stopNode,
    setKey,
    forgetKey,
    refresh: () => hub.reconnect(),
    openSettings: async () => void (await vscode.commands.executeCommand('workbench.action.openSettings', 'baton')),
  }
  const registered = Object.entries(commands).map(([name, command]) =>
    vscode.commands.registerCommand(`baton.${name}`, (row: Row | undefined) => run(command, tools, row)),
  )
  context.subscriptions.push(
    hub,
    tree,
    view,
    showStatus(hub),
    documents.register(),
    panel.register(),
    provideMcp(hub, context.secrets),
    ...registered,
    follow(hub),
  )
  // VS Code has other extensions to start: the node is looked for once that is done.
  setImmediate(() => void begin(hub))
}

async function begin(hub: Hub): Promise<void> {
  await hub.reconnect()
  if (hub.known.link !== 'online') return
  try {
    if (!(await registerCloud(hub))) return
    await hub.look()
    say('the node in the cloud is registered. "Baton: Register a Peer" gives it a key, and its fingerprint is to be confirmed')
  } catch (error) {
    void vscode.window.showWarningMessage(`Baton: the node in the cloud was not registered: ${failureOf(error).text}`)
  }
}

/** What changes elsewhere and is followed. */
function follow(hub: Hub): vscode.Disposable {
  return vscode.Disposable.from(
    hub.onChange((known) => void vscode.commands.executeCommand('setContext', 'baton.link', known.link)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('baton')) void begin(hub)
    }),
    vscode.window.onDidChangeWindowState((state) => {
      if (state.focused) hub.showAgain()
    }),
  )
}
