// The key of the node: in VS Code's secret storage, and nowhere else.

import * as vscode from 'vscode'
import { Failure } from '../node/failure.ts'
import { keyName } from '../node/place.ts'
import { type Command, given, say } from './command.ts'

export const setKey: Command = async ({ hub, secrets }) => {
  const { nodeUrl } = hub.settings()
  if (nodeUrl === undefined) {
    throw new Failure(
      'settings',
      'the node of this machine opens with the key in its data folder',
      'set baton.nodeUrl to use a node elsewhere',
    )
  }
  const title = `Key of the node at ${nodeUrl.origin}`
  const prompt =
    'Made there with "baton keys create --name vscode --scope read --scope drive --scope reveal --scope sync --scope debug"'
  const validateInput = (text: string) => (/^\S+$/.test(text.trim()) ? undefined : 'expected a key, without spaces')
  const key = given(await vscode.window.showInputBox({ title, prompt, password: true, validateInput, ignoreFocusOut: true }))
  await secrets.store(keyName(nodeUrl), key.trim())
  await hub.reconnect()
  if (hub.known.failure !== undefined) throw hub.known.failure
  say(`the node at ${nodeUrl.origin} takes the key`)
}

export const forgetKey: Command = async ({ hub, secrets }) => {
  const { nodeUrl } = hub.settings()
  if (nodeUrl === undefined) throw new Failure('settings', 'no key is kept: baton.nodeUrl is empty')
  await secrets.delete(keyName(nodeUrl))
  await hub.reconnect()
  say(`the key of ${nodeUrl.origin} is forgotten`)
}
