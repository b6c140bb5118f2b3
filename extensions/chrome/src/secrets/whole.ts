// Events of a bounded size as they came, with their secrets: for a tab of which the person wants them told.

import { HEADERS, TEXT_BYTES } from '../limits.ts'
import type { ConsoleEntry, TabEvent } from '../protocol.ts'
import { cut } from './cut.ts'

/** Texts that are as long as a body, and what says that one was cut. */
const BODIES: Record<string, string> = { body: 'body_truncated', payload: 'payload_truncated' }

/** The event as it came; bodies have at most so many bytes. */
export function whole(event: TabEvent, bodyBytes: number): TabEvent {
  if (event.type === 'browser_debug_console_event') return { ...event, entry: wholeEntry(event.entry) }
  return { ...event, data: cutAll(event.data, bodyBytes) } as TabEvent
}

function cutAll(data: object, most: number): object {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(data)) {
    const truncated = BODIES[name]
    if (name === 'headers') shown[name] = cutHeaders(value as object)
    else if (typeof value === 'object' && value !== null) shown[name] = cutAll(value as object, most)
    else if (typeof value !== 'string') shown[name] = value
    else {
      const { text, isCut } = cut(value, truncated === undefined ? TEXT_BYTES : most)
      shown[name] = text
      if (isCut && truncated !== undefined) shown[truncated] = true
    }
  }
  // What was cut before says so still.
  for (const truncated of Object.values(BODIES)) if ((data as Record<string, unknown>)[truncated] === true) shown[truncated] = true
  return shown
}

function cutHeaders(headers: object): object {
  const all = Object.entries(headers).slice(0, HEADERS)
  return Object.fromEntries(all.map(([name, value]) => [cut(name, TEXT_BYTES).text, cut(String(value), TEXT_BYTES).text]))
}

function wholeEntry(entry: ConsoleEntry): ConsoleEntry {
  const fits = JSON.stringify(entry.args).length <= TEXT_BYTES
  const { text, isCut } = cut(entry.message, TEXT_BYTES)
  const shown: ConsoleEntry = { ...entry, message: text, args: fits ? entry.args : [] }
  if (isCut || !fits) shown.truncated = true
  for (const name of ['source', 'frame', 'worker', 'stack_trace'] as const) {
    const value = shown[name]
    if (value !== undefined) shown[name] = cut(value, TEXT_BYTES).text
  }
  return shown
}
