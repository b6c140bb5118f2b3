// What the node has and tells: the tree, the MCP server, the board.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { storageState } from '../logins.mjs'

export default async function ({ step, code, here, room }) {
  await step('the tree shows a session by its state, as soon as it is there', async () => {
    const file = join(room, 'shop.json')
    await writeFile(file, JSON.stringify(storageState('shop.test', 'first')))
    await here.baton('import', file, '--name', 'shop')
    await code.page.locator('.activitybar [aria-label^="Baton"]').first().click()
    await code.row('shop').waitFor()
    await code.row('Recoverable').waitFor()
    await code.shot('tree')
  })
  await step('VS Code knows the MCP server, and starts it', async () => {
    await code.runAny('MCP: List Servers')
    await code.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Baton' }).first().waitFor()
    await code.pick('Baton')
    await code.pick('Start Server')
    await code.page.locator('.output-view .view-lines', { hasText: /Discovered.\d+.tools/ }).waitFor()
    await code.shot('mcp')
    await code.runAny('View: Toggle Panel Visibility')
  })
  await step('the board is pushed: agents are counted as they come', async () => {
    await here.baton('federation', 'update', 'kimi', 'active', '--task', 'buy tea')
    await code.status('board', '1 agent active')
    await here.baton('federation', 'update', 'codex', 'active')
    await code.status('board', '2 agents active')
    await code.row('kimi').waitFor()
  })
  await step('a task of the board is shown, and who has it', async () => {
    const task = code.row('compare prices')
    await here.baton('federation', 'task', 'add', 'compare prices')
    await task.filter({ hasText: 'pending' }).waitFor()
    await here.baton('federation', 'task', 'claim', '--as', 'kimi')
    await task.filter({ hasText: 'claimed, kimi' }).waitFor()
  })
}
