// Starts and stops the node of this machine.

import { Failure, failureOf } from '../node/failure.ts'
import { startNode as start, stopNode as stop } from '../node/program.ts'
import { type Command, progress, say } from './command.ts'

export const startNode: Command = async ({ hub }) => {
  const settings = hub.settings()
  if (settings.nodeUrl !== undefined) {
    throw new Failure(
      'settings',
      `baton.nodeUrl names the node at ${settings.nodeUrl.origin}`,
      'leave it empty to use a node of this machine',
    )
  }
  await hub.reconnect()
  if (hub.known.link === 'online') return say('the local node runs already')
  await progress('starting a node', (_, token) => start(settings, process.env, signalOf(token)))
  await hub.reconnect()
  if (hub.known.failure !== undefined) throw hub.known.failure
  say('the local node runs')
}

export const stopNode: Command = async ({ hub }) => {
  const { place } = await hub.node()
  if (hub.settings().nodeUrl !== undefined || place.pid === undefined) {
    throw new Failure('settings', `the node at ${place.url.origin} is not of this machine`, 'stop it where it runs')
  }
  const { pid } = place
  try {
    await progress('the node captures its sessions and ends', (_, token) => stop(pid, signalOf(token)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM')
      throw new Failure('node', 'the node belongs to another user', 'stop it as that user')
    throw failureOf(error)
  }
  await hub.reconnect()
  say('the local node has ended; its browsers go on, and the next node finds them')
}

function signalOf(token: { onCancellationRequested(listener: () => void): unknown }): AbortSignal {
  const stop = new AbortController()
  token.onCancellationRequested(() => stop.abort())
  return stop.signal
}
