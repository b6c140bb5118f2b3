// What the browser tells of the console: calls, exceptions, and lines of its own.

import type { Protocol } from 'devtools-protocol'
import { TEXT_BYTES } from '../limits.ts'
import type { ConsoleEntry, ConsoleLevel } from '../protocol.ts'
import { cut } from '../secrets/cut.ts'
import { message, plain, printed } from './format.ts'
import type { Place } from './places.ts'

type StackTrace = Protocol.Runtime.StackTrace

interface Position {
  url: string | undefined
  line: number
  column: number
}

/** A line that was written; none for what prints nothing. */
export function called(params: Protocol.Runtime.ConsoleAPICalledEvent, place: Place): ConsoleEntry | undefined {
  if (['clear', 'endGroup', 'profile', 'profileEnd'].includes(params.type)) return undefined
  const level = levelOf(params.type)
  const entry = line(place, params.timestamp, level, message(params.args))
  entry.args = params.args.map(plain)
  const top = params.stackTrace?.callFrames[0]
  if (top !== undefined) locate(entry, { url: top.url, line: top.lineNumber, column: top.columnNumber })
  // The browser records how a line came there for all of them; it is of use for some.
  if (level === 'error' || params.type === 'trace') trace(entry, params.stackTrace)
  return entry
}

/** An exception that nobody caught, or a rejection. */
export function thrown(params: Protocol.Runtime.ExceptionThrownEvent, place: Place): ConsoleEntry {
  const { text, exception, stackTrace, url, lineNumber, columnNumber } = params.exceptionDetails
  const what = exception === undefined ? '' : printed(exception)
  const said = [text, what].filter((part) => part !== '').join(' ')
  const entry = line(place, params.timestamp, 'error', said)
  const source = url ?? stackTrace?.callFrames[0]?.url
  locate(entry, { url: source, line: lineNumber, column: columnNumber })
  trace(entry, stackTrace)
  return entry
}

/** What the browser itself has to say; none for what a worker said, which is listened to itself. */
export function added(params: Protocol.Log.EntryAddedEvent, place: Place): ConsoleEntry | undefined {
  const { source, level, text, timestamp, url, lineNumber } = params.entry
  if (source === 'worker') return undefined
  const entry = line(place, timestamp, logLevelOf(level), text)
  if (url !== undefined && url !== '') entry.source = url
  if (lineNumber !== undefined) entry.line = lineNumber + 1
  return entry
}

function levelOf(type: string): ConsoleLevel {
  switch (type) {
    case 'debug':
    case 'info':
      return type
    case 'warning':
      return 'warn'
    case 'error':
    case 'assert':
      return 'error'
    default:
      return 'log'
  }
}

function logLevelOf(level: string): ConsoleLevel {
  switch (level) {
    case 'verbose':
      return 'debug'
    case 'info':
      return 'info'
    case 'warning':
      return 'warn'
    default:
      return 'error'
  }
}

function line(place: Place, at: number, level: ConsoleLevel, text: string): ConsoleEntry {
  const { text: shown, isCut } = cut(text, TEXT_BYTES)
  const entry: ConsoleEntry = { timestamp: Math.max(0, Math.round(at)), level, message: shown, args: [] }
  if (isCut) entry.truncated = true
  if (place.kind === 'worker') entry.worker = place.url
  if (place.kind === 'frame') entry.frame = place.url
  return entry
}

/** Lines and columns count from 1 on. */
function locate(entry: ConsoleEntry, position: Position): void {
  if (position.url === undefined || position.url === '') return
  entry.source = position.url
  entry.line = position.line + 1
  entry.column = position.column + 1
}

function trace(entry: ConsoleEntry, stack: StackTrace | undefined): void {
  const frames = stack?.callFrames ?? []
  const lines = frames.map(({ functionName, url, lineNumber, columnNumber }) => {
    return `at ${functionName === '' ? '(anonymous)' : functionName} (${url}:${lineNumber + 1}:${columnNumber + 1})`
  })
  if (lines.length > 0) entry.stack_trace = cut(lines.join('\n'), TEXT_BYTES).text
}
