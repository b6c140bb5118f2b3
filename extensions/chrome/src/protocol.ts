// The messages between the extension and the node, as the document of the API has them.

import type { components } from './api.ts'

type Schemas = components['schemas']

/** What is left out where the document allows null: nobody writes one. */
type Written<T> = T extends unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]: Written<Exclude<T[K], null>> }
    : T

export type Headers = Record<string, string>
export type ConsoleLevel = Schemas['ConsoleLevel']
export type Direction = Schemas['Direction']
export type ResourceType = Schemas['ResourceType']
export type Cocoon = Schemas['WatchedCocoon']
export type OwnNames = Schemas['OwnNames']

/** Who saw it: a node's own sessions aside. */
export type Source = Exclude<Schemas['DebugSource'], 'session'>

export type Requested = Written<Schemas['Requested']>
export type Answered = Written<Schemas['Answered']>
export type Finished = Written<Schemas['Finished']>
export type Failed = Written<Schemas['Failed']>
export type SocketEvent = Written<Schemas['SocketEvent']>
export type NetworkChange = Written<Schemas['NetworkChange']>

/** A line of the console, before the node counts it. */
export type ConsoleEntry = Omit<Written<Schemas['ConsoleEntry']>, 'args' | 'seq'> & { args: unknown[] }

export type NetworkEvent = { type: 'browser_debug_network_event'; source: Source } & NetworkChange
export type ConsoleEvent = { type: 'browser_debug_console_event'; entry: ConsoleEntry }

/** What happened in a tab, before it has its tab and its number. */
export type TabEvent = NetworkEvent | ConsoleEvent

/** What the extension sends, events aside: those are put together as text. */
export type BrowserMessage = Exclude<
  Written<Schemas['BrowserMessage']>,
  { type: 'browser_debug_network_event' | 'browser_debug_console_event' }
>

export type TabAccepted = { type: 'browser_debug_tab_accepted' } & Written<Schemas['TabAccepted']>
export type DebugError = { type: 'browser_debug_error' } & Written<Schemas['DebugError']>

/** What the node sends to a browser. */
export type RelayMessage = TabAccepted | DebugError | { type: 'browser_debug_heartbeat' }

/** The message, if it is one that a browser understands. */
export function readRelayMessage(text: string): RelayMessage | undefined {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(message)) return undefined
  switch (message['type']) {
    case 'browser_debug_heartbeat':
      return { type: 'browser_debug_heartbeat' }
    case 'browser_debug_tab_accepted':
      return isAccepted(message) ? message : undefined
    case 'browser_debug_error':
      return typeof message['code'] === 'string' ? (message as unknown as DebugError) : undefined
    default:
      return undefined
  }
}

function isAccepted(message: Record<string, unknown>): message is Record<string, unknown> & TabAccepted {
  const { offered, token, last_seq } = message
  return typeof offered === 'string' && typeof token === 'string' && Number.isSafeInteger(last_seq)
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
