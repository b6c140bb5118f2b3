// Headers: credentials and cookies without their values.

import { redactAddress } from './address.ts'
import { HIDDEN } from './hidden.ts'
import { isKnown, isRandom } from './look.ts'
import { isSecret } from './names.ts'
import { redactText } from './text.ts'

/** Headers without secrets come again and again: so many are known, none of which is longer than this. */
const HARMLESS = new Set<string>()
const MAX_HARMLESS = 5_000
const MAX_LENGTH = 512

/** The value of a header without its secrets. */
export function redactHeader(name: string, value: string): string {
  const header = `${name}: ${value}`
  if (HARMLESS.has(header)) return value
  const lower = name.toLowerCase()
  const shown = value.split('\n').map((line) => redactLine(lower, line)).join('\n')
  if (shown === value && header.length <= MAX_LENGTH) {
    if (HARMLESS.size >= MAX_HARMLESS) HARMLESS.clear()
    HARMLESS.add(header)
  }
  return shown
}

function redactLine(name: string, value: string): string {
  switch (name) {
    case 'cookie':
      return value.split('; ').map(hideValue).join('; ')
    case 'set-cookie':
    case 'set-cookie2':
      return hideCookie(value)
    case 'sec-websocket-protocol':
      return value.split(', ').map(hideTicket).join(', ')
    case 'authentication-info':
    case 'proxy-authentication-info':
      return HIDDEN
    case 'www-authenticate':
    case 'proxy-authenticate':
      return redactText(value, 'data')
    default:
      return redactOther(name, value)
  }
}

function redactOther(name: string, value: string): string {
  if (value === '' || value === HIDDEN) return value
  if (name === 'authorization' || name === 'proxy-authorization') return hideCredentials(value)
  if (isSecret(name)) return HIDDEN
  if (['location', 'content-location', 'referer'].includes(name) || isAddress(value)) return redactAddress(value)
  return redactText(value, 'data')
}

function hideCookie(line: string): string {
  const at = line.indexOf(';')
  return at < 0 ? hideValue(line) : hideValue(line.slice(0, at)) + line.slice(at)
}

/** `name=value` without the value; a cookie without a name is all value. */
function hideValue(cookie: string): string {
  const at = cookie.indexOf('=')
  if (at < 0) return cookie === '' ? '' : HIDDEN
  return at === cookie.length - 1 ? cookie : `${cookie.slice(0, at)}=${HIDDEN}`
}

/** `Bearer …` keeps its first word. */
function hideCredentials(value: string): string {
  const scheme = /^([A-Za-z-]*) /.exec(value)?.[1]
  return scheme === undefined ? HIDDEN : `${scheme} ${HIDDEN}`
}

/** Pages without other means give their ticket as a subprotocol. */
function hideTicket(item: string): string {
  const last = item.slice(item.lastIndexOf('.') + 1)
  return isRandom(item) || isRandom(last) || isKnown(item) ? HIDDEN : item
}

function isAddress(value: string): boolean {
  return (value.includes('://') || value.startsWith('/')) && !/[ ,;]/.test(value)
}
