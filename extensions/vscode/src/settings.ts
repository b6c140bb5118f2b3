// The settings, read and judged: what is nonsense says what would be sense.

import { Failure } from './node/failure.ts'

/** What the node does with revisions of which none had seen the other. */
export const POLICIES = ['latest-wins', 'manual', 'merge'] as const
export type Policy = (typeof POLICIES)[number]

/** What a person set. */
export interface Settings {
  nodeUrl: URL | undefined
  dataFolder: string | undefined
  program: string | undefined
  syncEnabled: boolean
  syncAutoRegisterCloud: boolean
  syncCloudUrl: URL | undefined
  autoSync: boolean
  conflictPolicy: Policy
}

/** Gives the value of a setting, whatever somebody wrote there. */
export type Lookup = (name: string) => unknown

/** Reads all settings; the first that is nonsense is told. */
export function readSettings(get: Lookup): Settings {
  return {
    nodeUrl: address(get, 'nodeUrl'),
    dataFolder: text(get, 'dataFolder'),
    program: text(get, 'program'),
    syncEnabled: flag(get, 'syncEnabled', false),
    syncAutoRegisterCloud: flag(get, 'syncAutoRegisterCloud', true),
    syncCloudUrl: address(get, 'syncCloudUrl'),
    autoSync: flag(get, 'autoSync', false),
    conflictPolicy: policy(get('conflictPolicy')),
  }
}

/** Checks the address of a node: a key must not travel in clear text to another machine. */
export function readAddress(text: string, what: string): URL {
  const wanted = `expected ${what} to be an address such as https://baton.example.org:7420`
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) throw nonsense(`${wanted}, found "${shortened(text)}"`)
  if (url.username !== '' || url.password !== '') throw nonsense(`${wanted} without a name or a password in it`)
  if (url.search !== '' || url.hash !== '') throw nonsense(`${wanted} with nothing behind the path`)
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw nonsense(`expected ${what} to begin with https, because another machine would be sent a key in clear text`)
  }
  return url
}

/** Whether it is this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

function address(get: Lookup, name: string): URL | undefined {
  const found = text(get, name)
  return found === undefined ? undefined : readAddress(found, `baton.${name}`)
}

function text(get: Lookup, name: string): string | undefined {
  const found = get(name) ?? ''
  if (typeof found !== 'string') throw nonsense(`expected baton.${name} to be a text, found ${typeof found}`)
  return found.trim() === '' ? undefined : found.trim()
}

function flag(get: Lookup, name: string, fallback: boolean): boolean {
  const found = get(name) ?? fallback
  if (typeof found !== 'boolean') throw nonsense(`expected baton.${name} to be true or false, found ${typeof found}`)
  return found
}

function policy(found: unknown): Policy {
  const policy = POLICIES.find((one) => one === (found ?? 'latest-wins'))
  if (policy === undefined) throw nonsense(`expected baton.conflictPolicy to be one of ${POLICIES.join(', ')}`)
  return policy
}

function nonsense(message: string): Failure {
  return new Failure('settings', message, 'open the settings and search for "baton"')
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
