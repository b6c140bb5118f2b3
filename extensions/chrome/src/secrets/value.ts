// Values behind a separator in any text: in quotes, until the end of a word, or of a line.

import { isRandom } from './look.ts'

/** A part of a text, from `start` up to `end`. */
export interface Range {
  start: number
  end: number
}

/** The longest name. */
export const MAX_NAME = 64
/** Names whose value goes on until the end of the line or of the quotation. */
const WHOLE_LINE = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'cookies'])
/** Words before credentials, which go on until the end of the line. */
const SCHEMES = new Set(['apikey', 'aws4-hmac-sha256', 'basic', 'bearer', 'digest', 'negotiate', 'oauth', 'token'])
/** Ends of a word, as they are encoded in an address. */
const ENCODED_ENDS = ['%26', '%23', '%22', '%27', '%2C', '%2c', '%7D', '%7d']

const QUOTES = '"\'`'
const END_OF_WORD = ' \t\n\f\r"\'`,;&<>(){}[]|\\'
const END_OF_LINE = '\n\r"<'

/** Where a value begins, and how. */
export class Value {
  private constructor(
    private readonly text: string,
    private readonly start: number,
    readonly quote: string | undefined,
    /** How often the quote is escaped. */
    private readonly depth: number,
    /** Whether it is encoded as in an address. */
    private readonly isEncoded: boolean,
  ) {}

  static behind(text: string, separator: Range): Value {
    let start = separator.end
    if (separator.end - separator.start > 1) {
      start += startsWithAny(text, start, ['%22', '%27', '%20']) ? 3 : 0
      return new Value(text, start, undefined, 0, true)
    }
    if (text[start] === '>') start += 1
    start += run(text, start, 2, (c) => c === ' ' || c === '\t')
    const depth = run(text, start, 8, (c) => c === '\\')
    const quote = text[start + depth]
    if (quote !== undefined && QUOTES.includes(quote)) {
      return new Value(text, start + depth + 1, quote, depth, false)
    }
    return new Value(text, start, undefined, 0, false)
  }

  /** All of it: in quotes, or until something that ends a word. */
  whole(name: string): Range {
    const { text, start } = this
    if (this.quote !== undefined) return { start, end: endOfQuotation(text, start, this.quote, this.depth) }
    if (this.isEncoded) return { start, end: endOfEncodedWord(text, start) }
    const last = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
    if (WHOLE_LINE.has(last)) return { start, end: until(text, start, END_OF_LINE) }
    const word = until(text, start, END_OF_WORD)
    const isScheme = word - start <= MAX_NAME && SCHEMES.has(text.slice(start, word).toLowerCase())
    return { start, end: isScheme ? until(text, word, END_OF_LINE) : word }
  }

  /** As much of it as a name may have. */
  beginning(): string {
    return this.text.slice(this.start, this.start + run(this.text, this.start, MAX_NAME, isPartOfName))
  }

  /** All of it, if it is one long random text. */
  random(): Range | undefined {
    const { text, start } = this
    let end = start + run(text, start, text.length, (c) => /[A-Za-z0-9\-_+/.~]/.test(c))
    end += run(text, end, 2, (c) => c === '=')
    return isRandom(text.slice(start, end)) ? { start, end } : undefined
  }
}

/** How many characters from `start` on fit, at most so many. */
export function run(text: string, start: number, most: number, fits: (c: string) => boolean): number {
  let length = 0
  while (length < most && start + length < text.length && fits(text.charAt(start + length))) length += 1
  return length
}

export function isPartOfName(c: string): boolean {
  return /[A-Za-z0-9_\-.$]/.test(c)
}

export function startsWithAny(text: string, at: number, texts: readonly string[]): boolean {
  return texts.some((one) => text.startsWith(one, at))
}

/** The end of a word in which what ends one may be encoded. */
function endOfEncodedWord(text: string, start: number): number {
  let at = start
  while (at < text.length && !END_OF_WORD.includes(text.charAt(at)) && !startsWithAny(text, at, ENCODED_ENDS)) at += 1
  return at
}

function until(text: string, from: number, ends: string): number {
  let at = from
  while (at < text.length && !ends.includes(text.charAt(at))) at += 1
  return at
}

/** The quote that is escaped as often as the first one, or less; the end of the text when there is none. */
function endOfQuotation(text: string, from: number, quote: string, depth: number): number {
  let escapes = 0
  for (let at = from; at < text.length; at += 1) {
    const c = text.charAt(at)
    if (c === '\\') {
      escapes += 1
      continue
    }
    if (c === quote && (escapes <= depth || (depth === 0 && escapes % 2 === 0))) return depth === 0 ? at : at - escapes
    escapes = 0
  }
  return text.length
}
