// Hands a session over to another agent.

import * as vscode from 'vscode'
import { ask } from '../node/node.ts'
import { checkAgent } from '../words/names.ts'
import { type Command, given, say } from './command.ts'
import { pickSession } from './pick.ts'

export const handOverSession: Command = async ({ hub }, row) => {
  const node = await hub.node()
  const session = await pickSession(node, row?.subject, 'Hand over which session?', (one) => one.state === 'active')
  const to = await pickAgent(hub.known.board?.agents.map((agent) => agent.name) ?? [])
  const driver = session.agent?.agent
  const reason = driver === undefined ? undefined : await why(driver)
  const body = { ...(to === undefined ? {} : { to }), ...(reason === undefined ? {} : { reason }) }
  await ask(node.api.POST('/sessions/{id}/pass', { params: { path: { id: session.id } }, body }))
  await hub.look()
  say(
    to === undefined
      ? `nobody drives ${session.name}: the next agent that asks gets it`
      : `${to} drives ${session.name} from now on`,
  )
}

/** An agent's name; nothing for nobody. */
async function pickAgent(names: string[]): Promise<string | undefined> {
  const nobody = {
    label: '$(circle-slash) Nobody',
    detail: 'the next agent that asks gets it',
    kind: vscode.QuickPickItemKind.Default,
  }
  const other = { label: '$(edit) Another agent…', kind: vscode.QuickPickItemKind.Default }
  const known = names.map((label) => ({ label, detail: '' }))
  const chosen = given(await vscode.window.showQuickPick([...known, other, nobody], { title: 'Hand it over to' }))
  if (chosen === nobody) return undefined
  return chosen === other
    ? given(await vscode.window.showInputBox({ title: 'Name of the agent', validateInput: checkAgent }))
    : chosen.label
}

async function why(driver: string): Promise<string> {
  const validateInput = (text: string) => (text.trim() === '' ? 'expected a reason, found nothing' : undefined)
  return given(
    await vscode.window.showInputBox({
      title: `Why is it taken from ${driver}?`,
      prompt: 'The agent and the audit log see it',
      validateInput,
    }),
  )
}
