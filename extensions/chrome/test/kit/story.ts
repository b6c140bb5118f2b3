// What arrived of a tab, a line a request and a line a line, as tests compare it.

import type { Arrived } from './relay.ts'
import { until } from './wait.ts'

interface Request {
  order: number
  head: string
  end: string
  messages: string
}

/** Names for addresses that change from run to run. */
export type Names = Record<string, string>

/** The requests that one source saw, sorted. */
export function requests(events: Arrived[], source: string, names: Names): string[] {
  const open = new Map<string, Request>()
  const all: Request[] = []
  for (const event of events) {
    if (event.type !== 'browser_debug_network_event' || event.source !== source) continue
    const { data } = event
    const known = open.get(data.request_id)
    if (event.event === 'request') {
      const { method, url, resource_type, frame, worker, body, body_truncated, redirect_response } = event.data
      const where = [frame && ` frame ${frame}`, worker && ` worker ${worker}`, body && ` "${body}"`, body_truncated && ' body cut']
      const after = redirect_response === undefined ? '' : ` after ${redirect_response.status}`
      const request = { order: all.length, head: `${resource_type} ${method} ${url}${where.filter(Boolean).join('')}${after}`, end: '', messages: '' }
      open.set(data.request_id, request)
      all.push(request)
    } else if (event.event === 'response') {
      const request = known ?? { order: all.length, head: `? ${event.data.url}`, end: '', messages: '' }
      if (known === undefined) all.push(request)
      open.set(data.request_id, request)
      request.end += ` → ${event.data.status}`
    } else if (known === undefined) {
      all.push({ order: all.length, head: `? ${event.event} of nothing`, end: '', messages: '' })
    } else if (event.event === 'finished') {
      const { body, body_truncated } = event.data
      known.end += `${body === undefined ? '' : ` "${body.slice(0, 20)}"`}${body_truncated ? ' cut' : ''}.`
    } else if (event.event === 'failed') {
      known.end += ` ✗ ${event.data.error}.`
    } else {
      known.messages += ` ${event.data.direction === 'sent' ? '↑' : '↓'}${event.data.payload}`
    }
  }
  return all.map(({ head, end, messages }) => plain(head + end.replace(/\.$/, '') + messages + (end.endsWith('.') ? '.' : ''), names)).sort()
}

/** The lines of the console, in their order. */
export function lines(events: Arrived[], names: Names): string[] {
  return events.flatMap((event) => {
    if (event.type !== 'browser_debug_console_event') return []
    const { level, message, frame, worker } = event.entry
    const where = [frame && ` frame ${frame}`, worker && ` worker ${worker}`].filter(Boolean).join('')
    return [plain(`${level} ${message.split('\n')[0]}${where}`, names)]
  })
}

/**
 * Whether the page says that it is done, and every request of the debugger has ended. An end that the base
 * layer sees while the worker wakes up is sometimes lost by the browser.
 */
function isDone(events: Arrived[], word = 'done'): boolean {
  const open = new Set<string>()
  let isSaid = false
  for (const event of events) {
    if (event.type === 'browser_debug_console_event') isSaid ||= event.entry.message === word
    else if (event.source !== 'debugger') continue
    else if (event.event === 'request') open.add(event.data.request_id)
    else if (event.event === 'finished' || event.event === 'failed') open.delete(event.data.request_id)
  }
  return isSaid && open.size === 0
}

/** Waits until a page is done; what is missing is told by what is there. */
export async function done(tab: { events: Arrived[] }, names: Names, from = 0): Promise<Arrived[]> {
  const told = () => tab.events.slice(from)
  try {
    await until('the page is done', () => isDone(told()))
  } catch {
    const all = [...lines(told(), names), ...requests(told(), 'webRequest', names), ...requests(told(), 'debugger', names)]
    throw new Error(`expected that the page is done, found\n${all.join('\n')}`)
  }
  return told()
}

function plain(text: string, names: Names): string {
  return Object.entries(names).reduce((shown, [name, address]) => shown.replaceAll(address, name), text)
}
