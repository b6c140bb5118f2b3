// What the popup asks the worker, and what it is told. No key, no token and no event is among it.

import type { LinkState } from './link/link.ts'

/** A tab, as the popup shows it. */
export interface TabStatus {
  tabId: number
  title: string
  cocoon: string
  /** Looked at; not, because the person said so; not, because its page came without a token. */
  state: 'looking' | 'paused' | 'no_token'
  /** Why the debugger could not be attached. */
  failure?: string
  /** Why the node does not take it now. */
  refusal?: string
  sent: number
  waiting: number
  dropped: number
  /** Whether the page had begun to load before the debugger came. */
  firstLoad: boolean
  /** Whether secrets are told: not, or as soon as the node takes them, or they are. */
  secrets: 'hidden' | 'asked' | 'told'
}

/** What is true now. */
export interface Status {
  link: LinkState
  now: number
  address: string
  bodyBytes: number
  tabs: TabStatus[]
}

/** What the popup asks for. */
export type Question =
  | { ask: 'status' }
  | { ask: 'pair'; address: string; code: string }
  | { ask: 'unpair' }
  | { ask: 'settings'; address: string; bodyBytes: number }
  | { ask: 'pause' | 'resume' | 'reload' | 'reveal' | 'hide'; tabId: number }

/** What it is told. */
export type Answer = { status: Status } | { error: string }
