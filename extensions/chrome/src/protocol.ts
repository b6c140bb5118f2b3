// The messages between the extension and the node, as `crates/api/src/debug` has them.

export type Headers = Record<string, string>
export type Source = 'webRequest' | 'debugger'
export type ConsoleLevel = 'log' | 'debug' | 'info' | 'warn' | 'error'
export type Direction = 'sent' | 'received'

export type ResourceType =
  | 'document'
  | 'stylesheet'
  | 'image'
  | 'media'
  | 'font'
  | 'script'
  | 'xhr'
  | 'fetch'
  | 'eventsource'
  | 'websocket'
  | 'manifest'
  | 'ping'
  | 'preflight'
  | 'other'

/** A browser offers a tab, by the header's token or, after the connection was lost, by the grant. */
export interface TabAvailable {
  token: string
  browser_id: string
  url: string
  title: string
  favicon?: string
  epoch?: number
  first_load?: boolean
}

export interface Redirected {
  status: number
  status_text?: string
  headers?: Headers
}

/** A request was sent. Once more with the same id: it was redirected. */
export interface Requested {
  request_id: string
  timestamp: number
  method: string
  url: string
  headers?: Headers
  body?: string
  body_truncated?: boolean
  resource_type?: ResourceType
  frame?: string
  worker?: string
  redirect_response?: Redirected
}

/** The answer began. */
export interface Answered {
  request_id: string
  timestamp: number
  status: number
  status_text?: string
  headers?: Headers
  mime_type?: string
  url?: string
  resource_type?: ResourceType
  from_cache?: boolean
}

/** The answer is complete. */
export interface Finished {
  request_id: string
  timestamp: number
  body?: string
  body_truncated?: boolean
  body_base64?: boolean
  mime_type?: string
  duration_ms?: number
  transfer_size?: number
  body_size?: number
}

/** The request failed. */
export interface Failed {
  request_id: string
  timestamp: number
  error: string
  duration_ms?: number
}

/** A message went over a WebSocket. */
export interface SocketEvent {
  request_id: string
  timestamp: number
  direction: Direction
  payload: string
  binary?: boolean
  payload_truncated?: boolean
  size?: number
}

/** What happened to a request. */
export type NetworkChange =
  | { event: 'request'; data: Requested }
  | { event: 'response'; data: Answered }
  | { event: 'finished'; data: Finished }
  | { event: 'failed'; data: Failed }
  | { event: 'message'; data: SocketEvent }

/** A line of the console. */
export interface ConsoleEntry {
  timestamp: number
  level: ConsoleLevel
  args: unknown[]
  message: string
  source?: string
  line?: number
  column?: number
  stack_trace?: string
  frame?: string
  worker?: string
  truncated?: boolean
}

export type NetworkEvent = { type: 'browser_debug_network_event'; source: Source } & NetworkChange
export type ConsoleEvent = { type: 'browser_debug_console_event'; entry: ConsoleEntry }

/** What happened in a tab, before it has its tab and its number. */
export type TabEvent = NetworkEvent | ConsoleEvent

/** What the extension sends, events aside: those are put together as text. */
export type BrowserMessage =
  | ({ type: 'browser_debug_tab_available' } & TabAvailable)
  | { type: 'browser_debug_tab_closed'; token: string }
  | { type: 'browser_debug_tab_updated'; token: string; url: string; title: string }
  | { type: 'browser_debug_heartbeat' }

/** A tab that was offered is taken. `resume` offers it again after the connection was lost. */
export interface TabAccepted {
  type: 'browser_debug_tab_accepted'
  offered: string
  token: string
  last_seq: number
  resume?: string
}

/** A message could not be done. */
export interface DebugError {
  type: 'browser_debug_error'
  request_id?: string
  token?: string
  offered?: string
  code: string
  message: string
}

/** What the node sends to a browser. */
export type RelayMessage = TabAccepted | DebugError | { type: 'browser_debug_heartbeat' }

/** Where pages of a cocoon are found. */
export interface Cocoon {
  id: string
  name: string
  origin: string
  path: string
}

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
