// What is shown of a line of the console and of a request, as plain data: who shows it makes no sense of its own of it.

import { duration, size } from '../amounts.ts'
import type { Schemas } from '../schemas.ts'

/** How loud a line is, from quiet to loud. */
export const LEVELS = ['debug', 'log', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]

/** What a choice of lines from a level on is called. */
export const LEVEL_WORDS: Record<Level, string> = {
  debug: 'All levels',
  log: 'Without debug',
  info: 'Info and louder',
  warn: 'Warnings and errors',
  error: 'Errors only',
}

/** How it stands with a request. */
export const ENDS = ['pending', 'good', 'bad'] as const
export type End = (typeof ENDS)[number]

/** What has a place in a list: the higher the key, the later it began. */
export interface Keyed {
  key: number
}

/** A line of the console. */
export interface Line extends Keyed {
  /** Milliseconds since 1970. */
  at: number
  level: Level
  text: string
  /** The script that wrote it, and where in it. */
  place: string
  /** How it came there; empty for most. */
  stack: string
}

/** A request. */
export interface Request extends Keyed {
  method: string
  address: string
  status: string
  end: End
  type: string
  duration: string
  size: string
}

/** What is shown of a line. */
export function lineOf(entry: Schemas['ConsoleEntry']): Line {
  return {
    key: entry.seq ?? 0,
    at: entry.timestamp,
    level: entry.level,
    text: entry.truncated === true ? `${entry.message} … (cut)` : entry.message,
    place: [entry.source, entry.line, entry.column].filter((part) => part != null && part !== '').join(':'),
    stack: entry.stack_trace ?? '',
  }
}

/** What is shown of a request in the list. */
export function requestOf(request: Schemas['NetworkRequest']): Request {
  return {
    key: request.number ?? 0,
    method: request.method,
    address: request.url,
    status: statusOf(request),
    end: endOf(request),
    type: typeOf(request),
    duration: request.duration_ms == null ? '' : duration(request.duration_ms),
    size: request.transfer_size == null ? '' : size(request.transfer_size),
  }
}

/** Its status in a word. */
export function statusOf({ status, error, ended }: Schemas['NetworkRequest']): string {
  if (error != null) return 'failed'
  if (status != null) return status === 0 ? 'hidden' : String(status)
  return ended === true ? 'ended' : 'pending'
}

function endOf({ status, error, ended }: Schemas['NetworkRequest']): End {
  if (error != null || (status ?? 0) >= 400) return 'bad'
  return ended === true ? 'good' : 'pending'
}

function typeOf({ mime_type: mime, resource_type: type }: Schemas['NetworkRequest']): string {
  const kind = typeof type === 'string' ? type : ''
  return kind !== '' && kind !== 'other' ? kind : (mime ?? kind)
}

/** The path of an address, which tells requests of a page apart, and its host. */
export function nameAndHost(address: string): [string, string] {
  const [, host, path] = /^[a-z]+:\/\/([^/?#]*)(.*)$/i.exec(address) ?? []
  return host === undefined ? [address.slice(0, 200), ''] : [path || '/', host]
}

/** The end of a line's place: what tells scripts apart. */
export function shortPlace(place: string): string {
  return place.slice(place.lastIndexOf('/') + 1).slice(-60)
}
