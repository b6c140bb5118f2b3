// Events without secrets and of a bounded size: nothing else leaves the browser.

import { HEADERS, TEXT_BYTES } from '../limits.ts'
import type { ConsoleEntry, Headers, NetworkChange, TabEvent } from '../protocol.ts'
import { redactAddress } from './address.ts'
import { redactBase64, redactBody } from './body.ts'
import { cut } from './cut.ts'
import { redactHeader } from './headers.ts'
import { HIDDEN } from './hidden.ts'
import { redactJson } from './json.ts'
import { isSecret } from './names.ts'
import { redactText } from './text.ts'

/** The event without its secrets; bodies have at most so many bytes. */
export function clean(event: TabEvent, bodyBytes: number): TabEvent {
  if (event.type === 'browser_debug_console_event') return { ...event, entry: cleanEntry(event.entry) }
  return { ...event, ...cleanChange(event, bodyBytes) }
}

/** An address without its secrets. */
export function cleanAddress(url: string): string {
  return cut(redactAddress(cut(url, TEXT_BYTES).text), TEXT_BYTES).text
}

/** A line for people, such as a title, without its secrets. */
export function cleanLine(text: string): string {
  return cut(redactText(cut(text, TEXT_BYTES).text, 'prose'), TEXT_BYTES).text
}

function cleanChange(change: NetworkChange, most: number): NetworkChange {
  switch (change.event) {
    case 'request': {
      const data = { ...change.data, url: cleanAddress(change.data.url) }
      const mime = contentType(data.headers)
      washBody(data, 'body', 'body_truncated', undefined, mime, most)
      washHeaders(data)
      wash(data, ['frame', 'worker'], cleanAddress)
      if (data.redirect_response !== undefined) {
        data.redirect_response = { ...data.redirect_response }
        wash(data.redirect_response, ['status_text'], cleanLine)
        washHeaders(data.redirect_response)
      }
      return { event: 'request', data }
    }
    case 'response': {
      const data = { ...change.data }
      washHeaders(data)
      wash(data, ['status_text', 'mime_type'], cleanLine)
      wash(data, ['url'], cleanAddress)
      return { event: 'response', data }
    }
    case 'finished': {
      const data = { ...change.data }
      wash(data, ['mime_type'], cleanLine)
      washBody(data, 'body', 'body_truncated', 'body_base64', data.mime_type, most)
      return { event: 'finished', data }
    }
    case 'failed':
      return { event: 'failed', data: { ...change.data, error: cleanLine(change.data.error) } }
    case 'message': {
      const data = { ...change.data }
      washBody(data, 'payload', 'payload_truncated', 'binary', undefined, most)
      return { event: 'message', data }
    }
  }
}

function wash<K extends string>(data: Partial<Record<K, string>>, keys: readonly K[], how: (text: string) => string): void {
  for (const key of keys) {
    const text = data[key]
    if (text !== undefined) data[key] = how(text)
  }
}

function washHeaders(data: { headers?: Headers }): void {
  if (data.headers === undefined) return
  const all = Object.entries(data.headers).slice(0, HEADERS)
  const washed = all.map(([name, value]) => [
    cut(name, TEXT_BYTES).text,
    cut(redactHeader(name, cut(value, TEXT_BYTES).text), TEXT_BYTES).text,
  ])
  data.headers = Object.fromEntries(washed) as Headers
}

/** Cut first, so that the work is bounded, and once more, for a mark may be longer than what it hides. */
function washBody<T extends object>(
  data: T,
  body: keyof T & string,
  truncated: keyof T & string,
  base64: (keyof T & string) | undefined,
  mime: string | undefined,
  most: number,
): void {
  const fields = data as Record<string, unknown>
  const whole = fields[body]
  if (typeof whole !== 'string') return
  const begin = cut(whole, most)
  const wasBase64 = base64 !== undefined && fields[base64] === true
  const redacted = wasBase64 ? redactBase64(begin.text, mime) : { body: redactBody(begin.text, mime), isBase64: false }
  const end = cut(redacted.body, most)
  fields[body] = end.text
  if (begin.isCut || end.isCut) fields[truncated] = true
  if (wasBase64) fields[base64] = redacted.isBase64
}

function contentType(headers: Headers | undefined): string | undefined {
  return Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
}

function cleanEntry(entry: ConsoleEntry): ConsoleEntry {
  const shown = { ...entry }
  wash(shown, ['source', 'frame', 'worker'], cleanAddress)
  const beside = textsBesideAName(entry.args)
  const args = cleanArgs(entry.args)
  const begin = cut(entry.message, TEXT_BYTES)
  let message = redactText(begin.text, 'prose')
  for (const secret of beside) message = message.replaceAll(secret, HIDDEN)
  const end = cut(message, TEXT_BYTES)
  shown.message = end.text
  shown.args = args ?? []
  if (begin.isCut || end.isCut || args === undefined) shown.truncated = true
  wash(shown, ['stack_trace'], cleanLine)
  return shown
}

/** What was given to the console, if it is not too much. */
function cleanArgs(args: unknown[]): unknown[] | undefined {
  const hidden = args.map((arg, at) => (at > 0 && isName(args[at - 1]) && isText(arg) ? HIDDEN : arg))
  const text = JSON.stringify(hidden)
  if (text.length > TEXT_BYTES) return undefined
  try {
    return JSON.parse(redactJson(text, 'prose')) as unknown[]
  } catch {
    return undefined
  }
}

/** What was written as `console.log("token", token)`. */
function textsBesideAName(args: unknown[]): string[] {
  return args.filter((arg, at): arg is string => at > 0 && isText(arg) && isName(args[at - 1]))
}

function isText(arg: unknown): arg is string {
  return typeof arg === 'string' && arg !== ''
}

function isName(arg: unknown): boolean {
  if (typeof arg !== 'string' || arg.length > 64) return false
  const text = arg.replace(/[ :=]+$/, '')
  return /^[\p{Alphabetic}\p{N}_\-. ]{1,40}$/u.test(text) && isSecret(text)
}
