// Addresses: the way stays, with the values that are no secrets.

import { redactForm } from './form.ts'
import { HIDDEN } from './hidden.ts'
import { redactText } from './text.ts'

/**
 * The URL without its userinfo, and without the values of query and fragment that are secrets. Of a URL
 * that is all content, such as `data:`, the scheme stays.
 */
export function redactAddress(url: string): string {
  const [before, fragment] = cut(url, '#')
  const [way, query] = cut(before, '?')
  let redacted = redactText(bare(way), 'data')
  if (query !== undefined) redacted += `?${redactForm(query)}`
  if (fragment !== undefined) redacted += `#${redactFragment(fragment)}`
  return redacted
}

/** A fragment is a way within the page, pairs, or both. */
function redactFragment(fragment: string): string {
  const [way, query] = cut(fragment, '?')
  if (query !== undefined) return `${redactText(way, 'data')}?${redactForm(query)}`
  return /^[/!]/.test(fragment) ? redactText(fragment, 'data') : redactForm(fragment)
}

/** An address without its user and, when it is all content, without that. */
function bare(address: string): string {
  const at = address.indexOf(':')
  const scheme = address.slice(0, at + 1)
  const rest = address.slice(at + 1)
  if (rest.startsWith('//')) {
    const found = rest.slice(2).search(/[/\\]/)
    const end = found < 0 ? rest.length : found + 2
    const user = rest.lastIndexOf('@', end - 1)
    return user < 2 ? address : `${scheme}//${HIDDEN}${rest.slice(user)}`
  }
  if (scheme === '' || scheme === 'about:') return address
  if (scheme === 'blob:') return scheme + bare(rest)
  return scheme + HIDDEN
}

function cut(text: string, at: string): [string, string | undefined] {
  const found = text.indexOf(at)
  return found < 0 ? [text, undefined] : [text.slice(0, found), text.slice(found + 1)]
}
