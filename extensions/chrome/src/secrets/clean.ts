// Events without secrets and of a bounded size: nothing else leaves the browser.
//
// Of an event headers come first, then addresses, then bodies: what a header shows to be a secret is known
// in what comes behind it.

import { HEADERS, TEXT_BYTES } from '../limits.ts'
import type { ConsoleEntry, Headers, NetworkChange, TabEvent } from '../protocol.ts'
import { cut } from './cut.ts'
import { ALL_HIDDEN, HIDDEN, type Redacting } from './redactor.ts'

/** The event without its secrets; bodies have at most so many bytes. */
export function clean(redactor: Redacting, event: TabEvent, bodyBytes: number): TabEvent {
  return orNothing(redactor, (how) => {
    if (event.type === 'browser_debug_console_event') return { ...event, entry: cleanEntry(how, event.entry) }
    return { ...event, ...cleanChange(how, event, bodyBytes) }
  })
}

/** An address without its secrets. */
export function cleanAddress(redactor: Redacting, url: string): string {
  return orNothing(redactor, (how) => address(how, url))
}

/** A line for people, such as a title, without its secrets. */
export function cleanLine(redactor: Redacting, text: string): string {
  return orNothing(redactor, (how) => line(how, text))
}

/** What comes of it; with all of it hidden where the redactor fails at some of it. */
function orNothing<T>(redactor: Redacting, what: (how: Redacting) => T): T {
  try {
    return what(redactor)
  } catch (error) {
    console.error('could not redact it, so all of it is hidden:', error)
    return what(ALL_HIDDEN)
  }
}

function cleanChange(how: Redacting, change: NetworkChange, most: number): NetworkChange {
  switch (change.event) {
    case 'request': {
      const data = { ...change.data }
      const mime = contentType(data.headers)
      redactHeaders(how, data)
      if (data.redirect_response !== undefined) {
        data.redirect_response = { ...data.redirect_response }
        redactHeaders(how, data.redirect_response)
        redactMembers(how, data.redirect_response, ['status_text'], line)
      }
      redactMembers(how, data, ['url', 'frame', 'worker'], address)
      redactBody(data, 'body', 'body_truncated', most, (body) => how.body(body, mime))
      return { event: 'request', data }
    }
    case 'response': {
      const data = { ...change.data }
      redactHeaders(how, data)
      redactMembers(how, data, ['url'], address)
      redactMembers(how, data, ['status_text', 'mime_type'], line)
      return { event: 'response', data }
    }
    case 'finished': {
      const data = { ...change.data }
      const mime = data.mime_type
      redactMembers(how, data, ['mime_type'], line)
      redactBody(data, 'body', 'body_truncated', most, (body) => {
        if (data.body_base64 !== true) return how.body(body, mime)
        const redacted = how.base64(body, mime)
        data.body_base64 = redacted.isBase64
        return redacted.body
      })
      return { event: 'finished', data }
    }
    case 'failed':
      return { event: 'failed', data: { ...change.data, error: line(how, change.data.error) } }
    case 'message': {
      const data = { ...change.data }
      redactBody(data, 'payload', 'payload_truncated', most, (payload) => {
        if (data.binary !== true) return how.socket(`${data.request_id} ${data.direction}`, payload)
        const redacted = how.base64(payload, undefined)
        data.binary = redacted.isBase64
        return redacted.body
      })
      return { event: 'message', data }
    }
  }
}

function address(how: Redacting, url: string): string {
  const { text, isCut } = cut(url, TEXT_BYTES)
  // What is before its host, a password too, is known by what is behind that.
  if (isCut && /^[^/]*\/\/[^/\\?#]*$/.test(text)) return HIDDEN
  return cut(how.address(text), TEXT_BYTES).text
}

function line(how: Redacting, text: string): string {
  return cut(how.line(cut(text, TEXT_BYTES).text), TEXT_BYTES).text
}

function redactMembers<K extends string>(
  how: Redacting,
  data: Partial<Record<K, string>>,
  keys: readonly K[],
  redacted: (how: Redacting, text: string) => string,
): void {
  for (const key of keys) {
    const text = data[key]
    if (text !== undefined) data[key] = redacted(how, text)
  }
}

function redactHeaders(how: Redacting, data: { headers?: Headers }): void {
  if (data.headers === undefined) return
  const all = Object.entries(data.headers).slice(0, HEADERS)
  const redacted = all.map(([name, value]) => [
    cut(name, TEXT_BYTES).text,
    cut(how.header(name, cut(value, TEXT_BYTES).text), TEXT_BYTES).text,
  ])
  data.headers = Object.fromEntries(redacted) as Headers
}

/** Cut first, so that the work is bounded, and once more, for a mark may be longer than what it hides. */
function redactBody<B extends string, T extends string>(
  data: Partial<Record<B, string> & Record<T, boolean>>,
  body: B,
  truncated: T,
  most: number,
  redacted: (body: string) => string,
): void {
  const whole = data[body]
  if (whole === undefined) return
  const begin = cut(whole, most)
  const end = cut(redacted(begin.text), most)
  Object.assign(data, { [body]: end.text })
  if (begin.isCut || end.isCut) Object.assign(data, { [truncated]: true })
}

function contentType(headers: Headers | undefined): string | undefined {
  return Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
}

function cleanEntry(how: Redacting, entry: ConsoleEntry): ConsoleEntry {
  const shown = { ...entry }
  redactMembers(how, shown, ['source', 'frame', 'worker'], address)
  const begin = cut(entry.message, TEXT_BYTES)
  const { fits, args } = written(entry.args)
  const redacted = how.console(args, begin.text)
  const end = cut(redacted.message, TEXT_BYTES)
  shown.message = end.text
  const shownArgs = fits ? read(redacted.args) : undefined
  shown.args = shownArgs ?? []
  if (begin.isCut || end.isCut || shownArgs === undefined) shown.truncated = true
  redactMembers(how, shown, ['stack_trace'], line)
  return shown
}

/** What was given to the console; of what is too much as much as may stand in the message. */
function written(args: unknown[]): { fits: boolean; args: string } {
  const all = JSON.stringify(args)
  if (all.length <= TEXT_BYTES) return { fits: true, args: all }
  const texts: unknown[] = []
  let length = 0
  for (const arg of args) {
    const text = typeof arg === 'string' ? arg.slice(0, TEXT_BYTES) : null
    texts.push(text)
    length += text?.length ?? 0
    if (length > TEXT_BYTES) break
  }
  return { fits: false, args: JSON.stringify(texts) }
}

function read(args: string): unknown[] | undefined {
  try {
    return JSON.parse(args) as unknown[]
  } catch {
    return undefined
  }
}
