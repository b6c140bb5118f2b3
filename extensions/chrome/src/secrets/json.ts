// JSON, whole or cut off: values under names of secrets, at any depth.
//
// A scanner, no parser: it goes through the text once, knows for each open object and list whether it
// belongs to a secret, and changes nothing but the values it hides; so order, spaces and numbers stay as
// they were, and a body that ends in the middle, or several in a row, do no harm.

import { HIDDEN } from './hidden.ts'
import { hide } from './look.ts'
import { isNamedBeside, isSecret, namesAnother } from './names.ts'
import { type Kind, redactText } from './text.ts'

/** How deep it looks; what is deeper is hidden. */
const MAX_DEPTH = 128

/** The JSON without its secrets. JSON stays JSON; texts in it are of this kind. */
export function redactJson(json: string, kind: Kind): string {
  return new Scan(json, kind).run()
}

/** An open object or list, or what stands around all of them. */
interface Frame {
  isObject: boolean
  /** Whether all of it belongs to a secret. */
  isSecret: boolean
  /** The name whose value comes next; none before a name, and in a list. */
  name?: string | undefined
  /** Whether a field of it named a secret. */
  namesSecret: boolean
}

class Scan {
  private at = 0
  private out = ''
  private top: Frame = { isObject: false, isSecret: false, namesSecret: false }
  private readonly below: Frame[] = []

  constructor(
    private readonly json: string,
    private readonly kind: Kind,
  ) {}

  run(): string {
    while (this.at < this.json.length) this.step(this.json.charAt(this.at))
    return this.out
  }

  private step(c: string): void {
    if (c === '{' || c === '[') this.open(c === '{')
    else if (c === '}' || c === ']') this.close()
    else if (c === '"') this.string()
    else if (c === '-' || (c >= '0' && c <= '9')) this.number()
    else if (c === ',') {
      this.top.name = undefined
      this.copy(1)
    } else this.other()
  }

  private copy(length: number): void {
    this.out += this.json.slice(this.at, this.at + length)
    this.at += length
  }

  private open(isObject: boolean): void {
    const isSecret = this.isSecret() || this.below.length >= MAX_DEPTH
    this.below.push(this.top)
    this.top = { isObject, isSecret, namesSecret: false }
    this.copy(1)
  }

  private close(): void {
    this.top = this.below.pop() ?? this.top
    this.copy(1)
  }

  /** Whether the value that comes now is a secret. */
  private isSecret(): boolean {
    const { name, namesSecret } = this.top
    if (this.top.isSecret) return true
    return name !== undefined && (isSecret(name) || (namesSecret && isNamedBeside(name)))
  }

  private string(): void {
    const start = this.at + 1
    const end = endOfString(this.json, start)
    const content = this.json.slice(start, end)
    const isWhole = end < this.json.length
    // A list has names only where it is none.
    const isName = this.top.name === undefined && (this.top.isObject || isFollowedByColon(this.json, end))
    this.out += `"${isName ? hide(content) : this.shown(content)}${isWhole ? '"' : ''}`
    if (isName) this.top.name = unescaped(content)
    this.at = end + (isWhole ? 1 : 0)
  }

  private shown(content: string): string {
    if (this.isSecret()) return content === '' ? content : HIDDEN
    if (this.top.name !== undefined && namesAnother(this.top.name)) {
      this.top.namesSecret ||= isSecret(unescaped(content))
    }
    return redactText(content, this.kind)
  }

  private number(): void {
    const length = this.length(/[A-Za-z0-9\-+.]*/y)
    if (this.isSecret()) {
      this.out += `"${HIDDEN}"`
      this.at += length
    } else this.copy(length)
  }

  /** Spaces, colons, `true`, and what is no JSON. */
  private other(): void {
    const spaces = this.length(/[ \t\n\f\r:]*/y)
    if (spaces > 0) {
      this.copy(spaces)
      return
    }
    const length = Math.max(1, this.length(/[^{}[\],"]*/y))
    const words = this.json.slice(this.at, this.at + length)
    const isWord = ['true', 'false', 'null'].includes(words.trimEnd())
    this.out += !isWord && this.isSecret() ? HIDDEN : redactText(words, this.kind)
    this.at += length
  }

  private length(pattern: RegExp): number {
    pattern.lastIndex = this.at
    return pattern.exec(this.json)?.[0].length ?? 0
  }
}

/** The quote that ends a string, or the end of the text. */
function endOfString(text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const c = text.charAt(at)
    if (c === '"') return at
    at += c === '\\' ? 2 : 1
  }
  return text.length
}

function isFollowedByColon(json: string, end: number): boolean {
  return /^[ \t\n\f\r]*:/.test(json.slice(end + 1, end + 257))
}

function unescaped(content: string): string {
  if (!content.includes('\\')) return content
  try {
    return String(JSON.parse(`"${content}"`))
  } catch {
    return content
  }
}
