// A list to pick a session from: it is there at once, and the icons of the sites come afterwards.

import * as vscode from 'vscode'
import { forEach, iconOf, type Whereabouts } from '../icons.ts'
import type { Node } from '../node/node.ts'
import { given } from './command.ts'

/** How long icons are gathered before the list is drawn again. */
const PAUSE_MS = 100

/** A line of the list. */
export interface Line extends vscode.QuickPickItem {
  whereabouts: Whereabouts
}

/** What stands around the list. */
export interface Frame {
  title: string
  placeholder?: string
}

/** The line that somebody picked. */
export async function choose<T extends Line>(node: Node, lines: T[], frame: Frame): Promise<T> {
  const pick = vscode.window.createQuickPick<T>()
  const stop = new AbortController()
  Object.assign(pick, { ...frame, matchOnDescription: true, matchOnDetail: true, keepScrollPosition: true })
  for (const line of lines) line.iconPath = new vscode.ThemeIcon('globe')
  pick.items = lines
  const picked = new Promise<T | undefined>((done) => {
    pick.onDidAccept(() => done(pick.selectedItems[0] ?? pick.activeItems[0]))
    pick.onDidHide(() => done(undefined))
  })
  pick.show()
  void draw(node, pick, lines, stop.signal)
  try {
    return given(await picked)
  } finally {
    stop.abort()
    pick.dispose()
  }
}

/** Draws the icons as they come. What is active stays so. */
async function draw<T extends Line>(node: Node, pick: vscode.QuickPick<T>, lines: T[], signal: AbortSignal): Promise<void> {
  let isWaiting = false
  const again = () => {
    isWaiting = false
    if (signal.aborted) return
    const active = pick.activeItems
    pick.items = [...lines]
    pick.activeItems = active
  }
  await forEach(lines, signal, async (line) => {
    const icon = await iconOf(node, line.whereabouts, signal)
    if (icon === undefined) return
    line.iconPath = vscode.Uri.parse(icon, true)
    if (!isWaiting) setTimeout(again, PAUSE_MS)
    isWaiting = true
  })
}
