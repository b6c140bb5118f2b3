// What the page and the extension say to each other. Each reads what the other says before it believes it.

import type { Details } from '../../../shared/tab/details.ts'
import type { Change } from '../../../shared/tab/list.ts'
import { ENDS, LEVELS, type Line, type Request } from '../../../shared/tab/shown.ts'

/** How many lines, and how many requests, are kept in the view. */
export const MOST = 2000

/** The two lists. */
export type Name = 'console' | 'network'

/** How it stands with the tab. */
export interface State {
  tone: 'live' | 'quiet' | 'bad'
  text: string
  /** What a button would do; empty when there is none. */
  remedy: string
}

/** Which tab it is, and how it stands with it. */
export interface Shown {
  title: string
  address: string
  /** The session, or the service, that it belongs to. */
  of: string
  state: State
}

/** What the extension tells the page. */
export type Told =
  | { tell: 'tab'; tab: Shown }
  | { tell: 'console'; change: Change<Line> }
  | { tell: 'network'; change: Change<Request> }
  | { tell: 'details'; details: Details }

/** What the page asks of the extension: never a command or an address, only which button was pressed. */
export type Asked =
  | { ask: 'ready' }
  | { ask: 'remedy' }
  | { ask: 'clear'; list: Name }
  | { ask: 'details'; key: number }
  | { ask: 'copy'; key: number }

/** Reads what a page asks; nothing when it is not of that form. */
export function readAsked(found: unknown): Asked | undefined {
  if (!isRecord(found)) return undefined
  const { ask, list, key } = found
  if (ask === 'ready' || ask === 'remedy') return { ask }
  if (ask === 'clear' && (list === 'console' || list === 'network')) return { ask, list }
  if ((ask === 'details' || ask === 'copy') && isKey(key)) return { ask, key }
  return undefined
}

/** Reads what the extension tells; nothing when it is not of that form. */
export function readTold(found: unknown): Told | undefined {
  if (!isRecord(found)) return undefined
  const { tell, tab, change, details } = found
  if (tell === 'tab' && isShown(tab)) return { tell, tab }
  if (tell === 'console' && isChange(change, isLine)) return { tell, change }
  if (tell === 'network' && isChange(change, isRequest)) return { tell, change }
  if (tell === 'details' && isDetails(details)) return { tell, details }
  return undefined
}

function isShown(found: unknown): found is Shown {
  return isRecord(found) && hasTexts(found, ['title', 'address', 'of']) && isState(found.state)
}

function isState(found: unknown): found is State {
  return isRecord(found) && hasTexts(found, ['text', 'remedy']) && ['live', 'quiet', 'bad'].includes(String(found.tone))
}

function isChange<T>(found: unknown, isItem: (item: unknown) => item is T): found is Change<T> {
  return (
    isRecord(found) &&
    typeof found.anew === 'boolean' &&
    isKey(found.floor) &&
    typeof found.missing === 'string' &&
    Array.isArray(found.put) &&
    found.put.length <= MOST &&
    found.put.every(isItem)
  )
}

function isLine(found: unknown): found is Line {
  return (
    isRecord(found) &&
    isKey(found.key) &&
    typeof found.at === 'number' &&
    LEVELS.some((level) => level === found.level) &&
    hasTexts(found, ['text', 'place', 'stack'])
  )
}

function isRequest(found: unknown): found is Request {
  return (
    isRecord(found) &&
    isKey(found.key) &&
    ENDS.some((end) => end === found.end) &&
    hasTexts(found, ['method', 'address', 'status', 'type', 'duration', 'size'])
  )
}

function isDetails(found: unknown): found is Details {
  return (
    isRecord(found) &&
    isKey(found.key) &&
    isFacts(found.facts) &&
    Array.isArray(found.sections) &&
    found.sections.every(isSection)
  )
}

function isSection(found: unknown): boolean {
  return isRecord(found) && hasTexts(found, ['title', 'text']) && isFacts(found.facts)
}

function isFacts(found: unknown): boolean {
  return Array.isArray(found) && found.every((fact) => isRecord(fact) && hasTexts(fact, ['name', 'value']))
}

function hasTexts(found: Record<string, unknown>, names: string[]): boolean {
  return names.every((name) => typeof found[name] === 'string')
}

function isKey(found: unknown): found is number {
  return Number.isSafeInteger(found) && Number(found) >= 0
}

function isRecord(found: unknown): found is Record<string, unknown> {
  return typeof found === 'object' && found !== null && !Array.isArray(found)
}
