// Where the node is, and what opens it: as the settings say, or as the command `baton` finds it.

import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isLoopback, type Settings } from '../settings.ts'
import { Failure } from './failure.ts'

/** A node that may be asked. */
export interface Place {
  url: URL
  /** Nothing when no key is known. */
  key: string | undefined
  /** Who must answer there; nothing when anybody may. */
  nodeId: string | undefined
  /** The process, for a node of this machine. */
  pid: number | undefined
}

/** What VS Code keeps secret. */
export interface Keys {
  get(name: string): Thenable<string | undefined>
}

/** The environment, as far as it names folders. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The name under which the key of a node is kept. */
export function keyName(url: URL): string {
  return `baton.key:${url.origin}${url.pathname}`
}

/** The data folder of the local node. */
export function dataFolder(
  settings: Pick<Settings, 'dataFolder'>,
  environment: Environment,
  platform: string = process.platform,
): string {
  const named = settings.dataFolder ?? environment.BATON_DATA
  if (named !== undefined && named !== '') return named
  const home = homedir()
  if (platform === 'win32') return join(environment.APPDATA ?? join(home, 'AppData', 'Roaming'), 'baton')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'baton')
  const shared = environment.XDG_DATA_HOME
  return join(shared?.startsWith('/') ? shared : join(home, '.local', 'share'), 'baton')
}

/** Finds the node that the settings name, else that of the data folder. */
export async function findPlace(settings: Settings, keys: Keys, environment: Environment): Promise<Place> {
  if (settings.nodeUrl !== undefined) {
    return { url: settings.nodeUrl, key: await keys.get(keyName(settings.nodeUrl)), nodeId: undefined, pid: undefined }
  }
  const folder = dataFolder(settings, environment)
  const file = await readOr(join(folder, 'node.json'))
  const found = file === undefined ? undefined : readNodeFile(file)
  if (found === undefined) {
    throw new Failure('none', `no node runs on ${folder}`, 'run "Baton: Start the Local Node", or set baton.nodeUrl')
  }
  const key = (await keys.get(keyName(found.url))) ?? (await readOr(join(folder, 'admin.key')))?.trim()
  return { ...found, key }
}

/** Reads `node.json`; nothing when it is none, or leads elsewhere. */
export function readNodeFile(text: string): Omit<Place, 'key'> | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  const { url, pid, node_id: nodeId } = (parsed ?? {}) as Record<string, unknown>
  if (typeof url !== 'string' || !URL.canParse(url) || typeof nodeId !== 'string') return undefined
  const address = new URL(url)
  const isSafe = address.protocol === 'https:' || isLoopback(address.hostname)
  return isSafe ? { url: address, nodeId, pid: typeof pid === 'number' ? pid : undefined } : undefined
}

async function readOr(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new Failure('file', `could not read ${path}: ${code}`, 'check who may read it, or set baton.dataFolder')
  }
}
