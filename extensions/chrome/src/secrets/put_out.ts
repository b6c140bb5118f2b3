// A text with parts of it hidden.

import { HIDDEN } from './hidden.ts'
import type { Range } from './value.ts'

/** The text with these parts hidden; they are in order and apart. */
export function putOut(text: string, hidden: readonly Range[]): string {
  if (hidden.length === 0) return text
  let out = ''
  let from = 0
  for (const { start, end } of hidden) {
    out += text.slice(from, start) + HIDDEN
    from = end
  }
  return out + text.slice(from)
}
