// The program `baton`: found, started as a node of this machine, and stopped.

import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, mkdir, open, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Settings } from '../settings.ts'
import { Failure } from './failure.ts'
import { dataFolder, type Environment, readNodeFile } from './place.ts'

/** How long a node may take to be ready; at its start it looks at every session. */
const START_MS = 60_000
/** How often it is looked whether it is. */
const STEP_MS = 100

/** Finds the program, or says how to get it. */
export async function findProgram(settings: Pick<Settings, 'program'>, environment: Environment): Promise<string> {
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const file = process.platform === 'win32' ? 'baton.exe' : 'baton'
  const places =
    settings.program === undefined
      ? [...folders, join(homedir(), '.cargo', 'bin')].map((folder) => join(folder, file))
      : [settings.program]
  for (const place of places) if (await isProgram(place)) return place
  if (settings.program !== undefined) {
    throw new Failure(
      'program',
      `expected a program at ${settings.program}, found none`,
      'set baton.program to the path of "baton", or leave it empty',
    )
  }
  const hint = 'install it with "cargo install --path crates/baton" in a clone of Baton, or set baton.program'
  throw new Failure('program', 'the program "baton" is not on the PATH', hint)
}

/** What the settings say to a node that is started. */
export function serveArguments(settings: Settings, folder: string): string[] {
  const sync = settings.syncEnabled
    ? [
        '--auto-sync',
        String(settings.autoSync),
        '--conflict-resolution',
        settings.conflictPolicy,
        '--auto-register-cloud',
        String(settings.syncAutoRegisterCloud),
        ...(settings.syncCloudUrl === undefined ? [] : ['--cloud-url', settings.syncCloudUrl.href]),
      ]
    : []
  return ['--data', folder, 'serve', '--listen', '127.0.0.1:0', ...sync]
}

/** Starts a node that outlives this window, and waits until it has said where it is. */
export async function startNode(settings: Settings, environment: Environment, signal: AbortSignal): Promise<void> {
  const program = await findProgram(settings, environment)
  const folder = dataFolder(settings, environment)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const log = await open(join(folder, 'node.log'), 'a', 0o600)
  let child: ChildProcess
  try {
    child = spawn(program, serveArguments(settings, folder), { detached: true, stdio: ['ignore', 'ignore', log.fd] })
  } finally {
    await log.close()
  }
  let failed: Error | undefined
  child.on('error', (error) => {
    failed = error
  })
  child.unref()
  const end = Date.now() + START_MS
  while (!(await hasStarted(folder, child))) {
    if (failed !== undefined) throw new Failure('program', `could not start ${program}: ${failed.message}`, 'set baton.program')
    if (child.exitCode !== null)
      throw new Failure('node', `the node ended at once: ${await lastWords(folder)}`, `look into ${join(folder, 'node.log')}`)
    if (signal.aborted || Date.now() > end) {
      child.kill('SIGTERM')
      throw new Failure(
        signal.aborted ? 'cancelled' : 'node',
        'the node was not ready, and was ended again',
        `look into ${join(folder, 'node.log')}`,
      )
    }
    await pause(STEP_MS)
  }
}

/** Ends a node of this machine, which captures its sessions first, and waits until it has. */
export async function stopNode(pid: number, signal: AbortSignal): Promise<void> {
  if (!isAlive(pid)) return
  process.kill(pid, 'SIGTERM')
  const end = Date.now() + START_MS
  while (isAlive(pid)) {
    if (signal.aborted || Date.now() > end)
      throw new Failure('node', 'the node is still ending: it captures its sessions', 'wait, and look again')
    await pause(STEP_MS)
  }
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function hasStarted(folder: string, child: ChildProcess): Promise<boolean> {
  const text = await readFile(join(folder, 'node.json'), 'utf8').catch(() => '')
  return readNodeFile(text)?.pid === child.pid
}

async function lastWords(folder: string): Promise<string> {
  const log = await readFile(join(folder, 'node.log'), 'utf8').catch(() => '')
  return log.trimEnd().split('\n').slice(-3).join(' ').slice(-600)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
