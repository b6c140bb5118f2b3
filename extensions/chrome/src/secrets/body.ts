// Bodies, by what they are.

import { redactForm, redactMultipart } from './form.ts'
import { HIDDEN } from './hidden.ts'
import { redactJson } from './json.ts'
import { redactText } from './text.ts'

/**
 * A body without its secrets. `mime` is what it says to be; where that is missing or wrong, the body's
 * own look decides.
 */
export function redactBody(body: string, mime: string | undefined): string {
  const kind = (mime ?? '').toLowerCase()
  const start = body.trimStart()
  if (kind.includes('json') || start.startsWith('{') || start.startsWith('[')) return redactJson(body, 'data')
  if (kind.includes('x-www-form-urlencoded') || (kind === '' && isForm(start))) return redactForm(body)
  if (kind.includes('multipart') || start.startsWith('--')) return redactMultipart(body)
  const isCode = ['javascript', 'ecmascript', 'css', 'wasm'].some((word) => kind.includes(word))
  return redactText(body, isCode ? 'code' : 'data')
}

/**
 * A body that came as base64, which may be cut, without its secrets: text as text, pictures and the like
 * as base64. Nobody can say what is in any other, so it is hidden.
 */
export function redactBase64(body: string, mime: string | undefined): { body: string; isBase64: boolean } {
  const bytes = bytesOf(body.slice(0, body.length - (body.length % 4)))
  if (bytes === undefined) return { body: HIDDEN, isBase64: false }
  const text = textOf(bytes)
  if (text !== undefined) return { body: redactBody(text, mime), isBase64: false }
  const isMedia = /^(?:image|font|audio|video)\//i.test(mime ?? '')
  return isMedia ? { body, isBase64: true } : { body: HIDDEN, isBase64: false }
}

/** The bytes of base64; none when it is not. */
export function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** The text, if it is one; its last character may be cut. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

function isForm(body: string): boolean {
  return body.includes('=') && /^[A-Za-z0-9\-_.~%+&=[\]*!'()]*$/.test(body)
}
