// Secrets by their look, whatever they are called.

import { HIDDEN } from './hidden.ts'

/** Texts that are nothing but secrets: JSON Web Tokens, private keys, keys of known makers. */
const KNOWN = new RegExp(
  [
    '-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z ]{0,30}-----|$)',
    '\\bey[JK][A-Za-z0-9_-]{6,4096}\\.[A-Za-z0-9_-]*(?:\\.[A-Za-z0-9_-]*)*',
    '\\b(?:sk|rk|whsec)[_-](?:[A-Za-z0-9]{1,12}[_-]){0,3}[A-Za-z0-9]{12,}[A-Za-z0-9_-]*',
    '\\bgh[opsur]_[A-Za-z0-9]{16,}',
    '\\bgithub_pat_[A-Za-z0-9_]{16,}',
    '\\bglpat-[A-Za-z0-9_-]{16,}',
    '\\bnpm_[A-Za-z0-9]{16,}',
    '\\bpypi-[A-Za-z0-9_-]{16,}',
    '\\bhf_[A-Za-z0-9]{16,}',
    '\\bxox[a-z]-[A-Za-z0-9-]{8,}',
    '\\bxapp-[A-Za-z0-9-]{8,}',
    '\\bSG\\.[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}',
    '\\b(?:AKIA|ASIA)[A-Z0-9]{12,}',
    '\\bAIza[A-Za-z0-9_-]{20,}',
    '\\bya29\\.[A-Za-z0-9_-]{8,}',
    '\\bbaton_[A-Za-z0-9_-]{16,}',
    '\\bAGE-SECRET-KEY-1[A-Z0-9]+',
  ].join('|'),
  'g',
)

/** Credentials behind the word for their kind. */
const SCHEME = /\b([Bb]earer|BEARER|[Bb]asic|BASIC)([ +]|%20)([A-Za-z0-9._~+/=-]{6,})/g

/** The user, and the password, of an address. */
const USER = /\b([A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/)[^\s/?#@"'<>\\]{1,512}@/g

/** Addresses that are all content. */
const DATA = /\b(data:)[A-Za-z]+\/[A-Za-z0-9.+-]+(?:;[A-Za-z0-9=._-]+){0,4},[^\s"'<>)]*/g

/** From which length on a text may be random. */
const MIN_RANDOM = 20
/** How long a word of small letters may be behind `Bearer` and still be prose. */
const MAX_PROSE = 20

/** The text without what is a secret by its look. */
export function hide(text: string): string {
  let shown = text.replace(KNOWN, HIDDEN)
  shown = shown.replace(SCHEME, (all: string, scheme: string, space: string, secret: string) =>
    isProse(secret) ? all : scheme + space + HIDDEN,
  )
  if (shown.includes('://') && shown.includes('@')) shown = shown.replace(USER, `$1${HIDDEN}@`)
  if (shown.includes('data:')) shown = shown.replace(DATA, `$1${HIDDEN}`)
  return shown
}

/** Whether a text is a secret of a known kind from its first to its last character. */
export function isKnown(text: string): boolean {
  return text !== '' && text.replace(KNOWN, HIDDEN) === HIDDEN
}

/** `Bearer authentication` is no credential. */
function isProse(text: string): boolean {
  const word = text.replace(/[=.-]{1,8}$/, '')
  return word.length < MAX_PROSE && /^[a-z]*$/.test(word)
}

/** Whether a value is a long random text. Words, numbers, dates, UUIDs, paths and names of files are not. */
export function isRandom(value: string): boolean {
  return (
    value.length >= MIN_RANDOM &&
    /^[A-Za-z0-9\-_+/=.~]+$/.test(value) &&
    isMixed(value) &&
    !isUuid(value) &&
    !isPath(value)
  )
}

/** Random texts change between capitals, small letters and digits all the time. */
function isMixed(value: string): boolean {
  let letters = 0
  let digits = 0
  let turns = 0
  let before = 0
  for (let at = 0; at < value.length; at += 1) {
    const kind = kindOf(value.charCodeAt(at))
    if (kind === 1 || kind === 2) letters += 1
    if (kind === 3) digits += 1
    if (before !== 0 && kind !== 0 && kind !== before) turns += 1
    before = kind
  }
  return letters >= 4 && digits >= 2 && turns * 5 >= value.length
}

function kindOf(c: number): 0 | 1 | 2 | 3 {
  if (c >= 0x61 && c <= 0x7a) return 1
  if (c >= 0x41 && c <= 0x5a) return 2
  return c >= 0x30 && c <= 0x39 ? 3 : 0
}

function isUuid(value: string): boolean {
  return /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/.test(value)
}

function isPath(value: string): boolean {
  return /\.[a-z0-9]{2,5}$/.test(value) || value.startsWith('/') || value.startsWith('./')
}
