// The two places in the status bar.

import * as vscode from 'vscode'
import type { Hub } from '../hub.ts'
import type { Known } from '../known.ts'
import { boardShown } from '../words/board.ts'
import { type Shown, syncShown } from '../words/sync.ts'

/** Shows sync and board, as soon as something else is known. */
export function showStatus(hub: Hub): vscode.Disposable {
  const sync = vscode.window.createStatusBarItem('baton.sync', vscode.StatusBarAlignment.Left, 11)
  const board = vscode.window.createStatusBarItem('baton.board', vscode.StatusBarAlignment.Left, 10)
  sync.name = 'Baton: Sync'
  board.name = 'Baton: Board'
  const update = (known: Known) => {
    show(sync, syncShown(known))
    show(board, boardShown(known))
  }
  update(hub.known)
  return vscode.Disposable.from(sync, board, hub.onChange(update))
}

function show(item: vscode.StatusBarItem, shown: Shown | undefined): void {
  if (shown === undefined) {
    item.hide()
    return
  }
  item.text = `$(${shown.icon}) ${shown.text}`
  item.tooltip = `Baton: ${shown.tooltip}`
  item.command = shown.command
  item.backgroundColor = shown.loud ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined
  item.show()
}
