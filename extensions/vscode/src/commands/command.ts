// What every command has: the hub, and a way to say how it ended.

import * as vscode from 'vscode'
import type { Hub } from '../hub.ts'
import { type Failure, failureOf } from '../node/failure.ts'
import type { Row } from '../view/rows.ts'
import { remedyOf } from '../words/remedy.ts'

/** What commands work with. */
export interface Tools {
  hub: Hub
  secrets: vscode.SecretStorage
}

/** A command; the row from which it was called, if it was. */
export type Command = (tools: Tools, row: Row | undefined) => Promise<void>

/** Whoever asked has thought better of it; the message says what became of what was begun, if anything. */
export class Cancelled extends Error {}

/** The answer, or the end of the command. */
export function given<T>(answer: T | undefined): T {
  if (answer === undefined) throw new Cancelled()
  return answer
}

/** Runs a command; what fails is said once, with what to do, and offered where it can be done at once. */
export async function run(command: Command, tools: Tools, row: Row | undefined): Promise<void> {
  try {
    await command(tools, row)
  } catch (error) {
    if (!(error instanceof Cancelled)) return complain(failureOf(error))
    if (error.message !== '') say(error.message)
  }
}

/** Long work, with progress. It can be cancelled when it looks at the token: no button does nothing. */
export function progress<T>(
  title: string,
  work: (told: (message: string) => void, token: vscode.CancellationToken) => Promise<T>,
): Thenable<T> {
  const options = { location: vscode.ProgressLocation.Notification, title: `Baton: ${title}`, cancellable: work.length > 1 }
  return vscode.window.withProgress(options, (progress, token) => work((message) => progress.report({ message }), token))
}

/** Says something that needs no answer. */
export function say(message: string): void {
  void vscode.window.showInformationMessage(`Baton: ${message}`)
}

async function complain(failure: Failure): Promise<void> {
  const remedy = remedyOf(failure)
  const chosen = await vscode.window.showErrorMessage(`Baton: ${failure.text}`, ...(remedy === undefined ? [] : [remedy.title]))
  if (chosen !== undefined && remedy !== undefined) await vscode.commands.executeCommand(remedy.command, ...remedy.words)
}
