// Any text: secrets by their look, and values behind names of secrets.
//
// Found are `name=value`, `name: value` and `"name": "value"` (also with the quotes escaped, as in JSON
// within JSON), a value that ends with the text, elements `<name>value</name>`, and the value of a pair
// that is named beside it: `name="password" value="…"`.

import { HIDDEN } from './hidden.ts'
import { hide } from './look.ts'
import { hideElements } from './markup.ts'
import { isNamedBeside, isSecret, isSecretInAddress, namesAnother } from './names.ts'
import { putOut } from './put_out.ts'
import { MAX_NAME, type Range, Value, isPartOfName, startsWithAny } from './value.ts'
import { hideSegments } from './ways.ts'

/** What kind of text it is: lines for people, data and markup, or programs, where values in quotes count. */
export type Kind = 'prose' | 'data' | 'code'

/** How far the value is from its name at most. */
const BESIDE = 256
/** Values that hide nothing. */
const NOTHING = new Set(['', 'null', 'undefined', 'true', 'false', 'none', HIDDEN])
/** A colon or an equals sign, perhaps encoded as in an address within another one. */
const SEPARATOR = /[:=]|%3[DdAa]/g
/** Behind these it is a pair of an address. */
const BEFORE_A_PAIR = ['?', '&', '%3F', '%3f', '%26']

/** The text without its secrets. */
export function redactText(text: string, kind: Kind): string {
  const shown = hideSegments(hideNamed(hide(text), kind))
  return kind === 'code' ? shown : hideElements(shown)
}

function hideNamed(text: string, kind: Kind): string {
  const hidden: Range[] = []
  let named: number | undefined
  SEPARATOR.lastIndex = 0
  for (let found = SEPARATOR.exec(text); found !== null; found = SEPARATOR.exec(text)) {
    const separator = { start: found.index, end: found.index + found[0].length }
    const name = nameBefore(text, separator.start)
    if (name === undefined) continue
    const word = text.slice(name.start, name.end)
    const value = Value.behind(text, separator)
    const beside = named !== undefined && separator.start - named <= BESIDE
    let secret: Range | undefined
    if (isSecretName(text, name, word, beside)) {
      secret = value.quote !== undefined || kind !== 'code' ? value.whole(word) : undefined
    } else if (namesAnother(word) && isSecret(value.beginning())) {
      named = separator.end
    } else if (kind === 'prose') {
      secret = value.random()
    }
    if (secret === undefined || NOTHING.has(text.slice(secret.start, secret.end))) continue
    hidden.push(secret)
    named = undefined
    SEPARATOR.lastIndex = secret.end
  }
  return putOut(text, hidden)
}

/** Whether a value behind this name is a secret; `beside` a name of one is what it names. */
function isSecretName(text: string, name: Range, word: string, beside: boolean): boolean {
  if (beside && isNamedBeside(word)) return true
  const beginsPair = BEFORE_A_PAIR.some((one) => text.endsWith(one, name.start))
  return beginsPair ? isSecretInAddress(word) : isSecret(word)
}

/** The name that ends before a separator, perhaps in quotes, perhaps with a space behind it. */
function nameBefore(text: string, separator: number): Range | undefined {
  let end = back(text, separator, 2, (c) => c === ' ' || c === '\t')
  end = back(text, end, 8, (c) => '"\'`\\]'.includes(c))
  if (text.endsWith('%22', end) || text.endsWith('%27', end)) end -= 3
  let start = back(text, end, MAX_NAME, isPartOfName)
  // `%3Fname` begins behind the encoded character.
  if (start > 0 && startsWithAny(text, start - 1, ['%']) && end - start >= 2) start += 2
  return /[A-Za-z]/.test(text.slice(start, end)) ? { start, end } : undefined
}

function back(text: string, from: number, most: number, fits: (c: string) => boolean): number {
  const least = Math.max(0, from - most)
  let end = from
  while (end > least && fits(text.charAt(end - 1))) end -= 1
  return end
}
