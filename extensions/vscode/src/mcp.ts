// Tells VS Code of Baton's MCP server, so that agents have its tools without a file being edited.

import * as vscode from 'vscode'
import type { Hub } from './hub.ts'
import { dataFolder, keyName } from './node/place.ts'
import { findProgram } from './node/program.ts'

/** Registers the server; a VS Code that knows no such servers goes without. */
export function provideMcp(hub: Hub, secrets: vscode.SecretStorage): vscode.Disposable {
  if (typeof vscode.lm?.registerMcpServerDefinitionProvider !== 'function') return new vscode.Disposable(() => undefined)
  const changes = new vscode.EventEmitter<void>()
  const changed = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration('baton')) changes.fire()
  })
  const provider: vscode.McpServerDefinitionProvider = {
    onDidChangeMcpServerDefinitions: changes.event,
    provideMcpServerDefinitions: () => definitions(hub),
    resolveMcpServerDefinition: (server) => resolve(server, hub, secrets),
  }
  return vscode.Disposable.from(changes, changed, vscode.lm.registerMcpServerDefinitionProvider('baton.mcp', provider))
}

/** The node elsewhere over HTTP, else the program over its standard input and output. */
async function definitions(hub: Hub): Promise<vscode.McpServerDefinition[]> {
  try {
    const settings = hub.settings()
    if (settings.nodeUrl !== undefined) {
      const uri = vscode.Uri.parse(new URL('mcp', `${settings.nodeUrl.href.replace(/\/$/, '')}/`).href)
      return [new vscode.McpHttpServerDefinition('Baton', uri, {}, hub.version)]
    }
    const program = await findProgram(settings, process.env)
    const words = ['--data', dataFolder(settings, process.env), 'mcp']
    return [new vscode.McpStdioServerDefinition('Baton', program, words, {}, hub.version)]
  } catch {
    // Without the program, or with nonsense in the settings, there is no server; the status bar says why.
    return []
  }
}

/** The key is given only to a server that is started now. */
async function resolve(
  server: vscode.McpServerDefinition,
  hub: Hub,
  secrets: vscode.SecretStorage,
): Promise<vscode.McpServerDefinition> {
  const { nodeUrl } = hub.settings()
  if (!(server instanceof vscode.McpHttpServerDefinition) || nodeUrl === undefined) return server
  const key = await secrets.get(keyName(nodeUrl))
  if (key !== undefined) server.headers = { Authorization: `Bearer ${key}` }
  return server
}
