// Pairs `name=value&…`, as in addresses and forms, and the parts of multipart forms.

import { HIDDEN } from './hidden.ts'
import { isKnown, isRandom } from './look.ts'
import { isSecret, isSecretInAddress } from './names.ts'
import { redactText } from './text.ts'

/** The pairs without their secrets. */
export function redactForm(pairs: string): string {
  return pairs.split('&').map(redactPair).join('&')
}

function redactPair(pair: string): string {
  const at = pair.indexOf('=')
  if (at < 0) return isSecretByLook(decoded(pair)) ? HIDDEN : shown(pair)
  const name = pair.slice(0, at)
  const value = pair.slice(at + 1)
  if (value === '' || value === HIDDEN) return pair
  if (isSecretInAddress(decoded(name)) || isSecretByLook(decoded(value))) return `${name}=${HIDDEN}`
  return `${name}=${shown(value)}`
}

function isSecretByLook(value: string): boolean {
  return isKnown(value) || isRandom(value)
}

/** A value in which others may stand: an address, JSON. */
function shown(value: string): string {
  const plain = decoded(value)
  const redacted = redactText(plain, 'prose')
  if (redacted === plain) return value
  if (plain === value) return redacted
  return redacted.split(HIDDEN).map(encoded).join(HIDDEN)
}

/** All but letters and digits as `%` and their bytes. */
function encoded(text: string): string {
  const bytes = new TextEncoder().encode(text)
  let out = ''
  for (const byte of bytes) {
    const c = String.fromCharCode(byte)
    out += /[A-Za-z0-9]/.test(c) ? c : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}

/** Bytes that are no UTF-8 become replacement characters, and a `%` that begins nothing stays. */
export function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  return spaced.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) => {
    const bytes = Uint8Array.from(run.slice(1).split('%'), (hex) => Number.parseInt(hex, 16))
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  })
}

/** A multipart form without its secrets: the parts of a secret's name. */
export function redactMultipart(form: string): string {
  let out = ''
  let rest = form
  for (let at = rest.indexOf('\r\n\r\n'); at >= 0; at = rest.indexOf('\r\n\r\n')) {
    const head = rest.slice(0, at + 4)
    const content = rest.slice(at + 4)
    const found = content.indexOf('\r\n--')
    const end = found < 0 ? content.length : found
    const name = nameOf(head)
    out += head
    out += name !== undefined && isSecret(name) && end > 0 ? HIDDEN : redactText(content.slice(0, end), 'data')
    rest = content.slice(end)
  }
  return out + redactText(rest, 'data')
}

function nameOf(head: string): string | undefined {
  const at = head.lastIndexOf('name="')
  const end = at < 0 ? -1 : head.indexOf('"', at + 6)
  return end < 0 ? undefined : head.slice(at + 6, end)
}
