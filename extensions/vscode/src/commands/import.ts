// Imports a session: from a peer, or from a file. What is cancelled leaves nothing behind.

import { readFile, stat } from 'node:fs/promises'
import * as vscode from 'vscode'
import { size } from '../../../shared/amounts.ts'
import { Failure } from '../node/failure.ts'
import { ask, type Node } from '../node/node.ts'
import { count } from '../words/amounts.ts'
import { checkName } from '../words/names.ts'
import { Cancelled, type Command, given, progress, say } from './command.ts'
import { bring } from './remote.ts'

/** Larger files are for the command line, which says how far it is. */
const MOST_BYTES = 256 << 20

export const importSession: Command = async ({ hub }) => {
  const node = await hub.node()
  const ways = [
    { label: '$(cloud-download) From a peer', way: 'peer' },
    {
      label: '$(file) From a file',
      detail: 'a session file, a storageState of Playwright, a list of cookies, or a cookies.txt',
      way: 'file',
    },
  ]
  const { way } = given(await vscode.window.showQuickPick(ways, { title: 'Import a session' }))
  if (way === 'peer') await bring(node, undefined)
  else await fromFile(node)
  await hub.look()
}

async function fromFile(node: Node): Promise<void> {
  const [uri] = given(
    await vscode.window.showOpenDialog({
      title: 'Import a session',
      filters: { 'Session files': ['json', 'txt'], 'All files': ['*'] },
    }),
  )
  const path = given(uri).fsPath
  const file = await readSession(path)
  const name = given(
    await vscode.window.showInputBox({
      title: 'Name of the session',
      placeHolder: 'left empty: that of the file',
      validateInput: checkName,
    }),
  )
  const imported = await progress(`importing ${path}`, async (_, token) => {
    if (token.isCancellationRequested) throw new Cancelled()
    const body = { file, ...(name.trim() === '' ? {} : { name: name.trim() }) }
    const made = await ask(node.patient.POST('/sessions/import', { body }))
    if (!token.isCancellationRequested) return made
    // The node finishes what was begun, so what it made goes again.
    await ask(node.api.DELETE('/sessions/{id}', { params: { path: { id: made.id } } }))
    throw new Cancelled()
  })
  const left = imported.left_out.items.length
  say(
    `${imported.name} is here: ${count(imported.holds.cookies, 'cookie')}, ${count(imported.holds.tabs, 'tab')}${left > 0 ? `; ${left} left out` : ''}`,
  )
}

/** Reads a file; what is no JSON goes as a text, and the node says what it is. */
async function readSession(path: string): Promise<unknown> {
  const { size: bytes } = await stat(path)
  if (bytes > MOST_BYTES)
    throw new Failure('file', `${path} has ${size(bytes)}, expected ${size(MOST_BYTES)} at most`, 'run "baton import" on it')
  const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '')
  if (text.startsWith('age-encryption.org/') || text.startsWith('-----BEGIN AGE'))
    throw new Failure('file', `expected ${path} to be open, found it sealed`, 'a sealed file is read by "baton import"')
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return text
  }
}
