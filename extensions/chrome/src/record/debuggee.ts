// The debugger of a tab: attached, switched on, asked, detached.

import { BODY_BYTES, COMMAND_MS } from '../limits.ts'

/** The version of the DevTools protocol that is asked for. */
const VERSION = '1.3'
/** How much of bodies a page's process keeps for us, in bytes, and of one of them. */
const KEPT = 64 << 20
const KEPT_OF_ONE = 8 << 20

/** Below a page: frames of other sites and workers, each of which waits until it is listened to. */
const BELOW = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }

/** Attaches to a tab; true when the worker's life before had done so. */
export async function attach(tabId: number): Promise<boolean> {
  try {
    await chrome.debugger.attach({ tabId }, VERSION)
    return false
  } catch (error) {
    if (String(error).includes('already attached')) return true
    throw error
  }
}

/** Detaches from a tab, if it is attached to. */
export async function detach(tabId: number): Promise<void> {
  await chrome.debugger.detach({ tabId }).catch(() => {})
}

/** Asks the browser; an answer that does not come in time is a failure. */
export async function command<T>(tabId: number, session: string | undefined, method: string, params: object = {}): Promise<T> {
  const target = session === undefined ? { tabId } : { tabId, sessionId: session }
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`expected an answer to ${method} within ${COMMAND_MS} ms, found none`)), COMMAND_MS)
  })
  try {
    return (await Promise.race([chrome.debugger.sendCommand(target, method, params as Record<string, unknown>), late])) as T
  } finally {
    clearTimeout(timer)
  }
}

/** What is switched on in a page, a frame or a worker. */
export interface Listening {
  /** Requests are told from here on; fails when they are not. */
  requests: Promise<unknown>
  /** The console was replayed, and what is below is known. */
  console: Promise<unknown>
}

/** Switches on what is told of a page, a frame or a worker, in the order in which it is said. */
export function listen(tabId: number, session: string | undefined, kind: 'page' | 'frame' | 'worker'): Listening {
  const post = (method: string, params: object = {}) => command(tabId, session, method, params).catch(() => undefined)
  // First, so that no page comes unheard between what is shown and what is told of.
  if (kind !== 'worker') void post('Page.enable')
  const requests = command(tabId, session, 'Network.enable', {
    maxTotalBufferSize: KEPT,
    maxResourceBufferSize: KEPT_OF_ONE,
    maxPostDataSize: BODY_BYTES,
  })
  // Not everybody asks.
  requests.catch(() => {})
  const calls = post('Runtime.enable')
  const log = post('Log.enable')
  const below = post('Target.setAutoAttach', BELOW)
  return { requests, console: Promise.all([calls, log, below]) }
}

/** Lets a frame or a worker that waits go on. */
export function go(tabId: number, session: string): void {
  void command(tabId, session, 'Runtime.runIfWaitingForDebugger').catch(() => {})
}
