// The tree in the side bar: rows as VS Code wants them, and a session's preview when one points at it.

import * as vscode from 'vscode'
import { age, size } from '../../../shared/amounts.ts'
import type { Hub } from '../hub.ts'
import { ask, type Schemas } from '../node/node.ts'
import { type Row, rows } from './rows.ts'

/** A preview is a small PNG; a larger one is not shown. */
const MOST_PREVIEW_BYTES = 1 << 20

/** Shows what the hub knows. */
export class Tree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<undefined>()
  readonly onDidChangeTreeData = this.changes.event
  private readonly subscription: vscode.Disposable

  constructor(private readonly hub: Hub) {
    this.subscription = hub.onChange(() => this.changes.fire(undefined))
  }

  getChildren(row?: Row): Row[] {
    return row === undefined ? rows(this.hub.known, Date.now()) : (row.children ?? [])
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const { Expanded, Collapsed, None } = vscode.TreeItemCollapsibleState
    const item = new vscode.TreeItem(row.label, row.children === undefined ? None : row.open ? Expanded : Collapsed)
    item.id = row.id
    if (row.description !== undefined) item.description = row.description
    if (row.tooltip !== undefined) item.tooltip = row.tooltip
    if (row.icon !== undefined) item.iconPath = new vscode.ThemeIcon(row.icon)
    if (row.context !== undefined) item.contextValue = row.context
    if (row.command !== undefined) item.command = { command: row.command, title: row.label, arguments: [row] }
    return item
  }

  async resolveTreeItem(item: vscode.TreeItem, row: Row, token: vscode.CancellationToken): Promise<vscode.TreeItem> {
    if (row.context?.startsWith('session') && row.subject !== undefined) item.tooltip = await this.hover(row.subject, token)
    return item
  }

  dispose(): void {
    this.subscription.dispose()
    this.changes.dispose()
  }

  private async hover(id: string, token: vscode.CancellationToken): Promise<vscode.MarkdownString> {
    const stop = new AbortController()
    token.onCancellationRequested(() => stop.abort())
    const text = new vscode.MarkdownString()
    try {
      const { api } = await this.hub.node()
      const request = { params: { path: { id } }, signal: stop.signal }
      const view = await ask(api.GET('/sessions/{id}', request))
      describe(text, view)
      if (view.snapshot != null) {
        const preview = (await ask(
          api.GET('/sessions/{id}/preview', { ...request, parseAs: 'arrayBuffer' }),
        )) as unknown as ArrayBuffer
        const image = Buffer.from(preview)
        if (image.length <= MOST_PREVIEW_BYTES)
          text.appendMarkdown(`\n\n![preview](data:image/png;base64,${image.toString('base64')})`)
      }
    } catch {
      // A session without a preview is described in words.
    }
    return text
  }
}

/** What is told of a session: text of pages is never taken for markdown. */
function describe(text: vscode.MarkdownString, view: Schemas['SessionView']): void {
  const taken =
    view.snapshot == null ? 'no snapshot' : `captured ${age(view.snapshot.taken_at, Date.now())}, ${size(view.snapshot.bytes)}`
  text.appendText(`${view.name}: ${view.state}, ${taken}\n`)
  if (view.description !== '') text.appendText(`${view.description}\n`)
  if (view.shared?.held_by != null)
    text.appendText(
      `held by ${view.shared.held_by.here ? 'this node' : (view.shared.held_by.name ?? view.shared.held_by.node_id)}\n`,
    )
  for (const tab of view.tabs.slice(0, 5)) text.appendText(`${tab.title || tab.url}\n`)
}
