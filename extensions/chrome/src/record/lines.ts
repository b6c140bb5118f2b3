// The lines of a tab's console, told in the order in which they were written.
//
// Each place of a tab replays what was written before the debugger came, one after the other, and without
// what is in its objects. So lines wait until nothing is replayed any more.

import type { Protocol } from 'devtools-protocol'
import type { ConsoleEntry } from '../protocol.ts'
import { added, called, thrown } from './console.ts'
import type { Place } from './places.ts'

/** What the lines need. */
export interface Host {
  tell(entry: ConsoleEntry): void
  command<T>(session: string | undefined, method: string, params: object): Promise<T>
}

/** A line, and when it was written, in milliseconds and their parts. */
interface Line {
  at: number
  entry: ConsoleEntry
}

/** Lines that wait at most. */
const WAITING = 10_000

export class Lines {
  private waiting: Line[] = []
  /** Sessions in which lines may come again. */
  private readonly replaying = new Set<string | undefined>()
  /** Lines whose objects are asked for. */
  private asking = 0

  constructor(
    private readonly host: Host,
    private isBeginning: boolean,
  ) {}

  /** It is known what the tab shows. */
  begin(): void {
    this.isBeginning = false
    this.settle()
  }

  /** Lines that were written before may come again. */
  replays(session: string | undefined, isNow: boolean): void {
    if (isNow) this.replaying.add(session)
    else this.replaying.delete(session)
    this.settle()
  }

  isReplaying(session: string | undefined): boolean {
    return this.replaying.has(session)
  }

  /** A line that the browser tells, or tells again; it is left when it was told until then. */
  take(session: string | undefined, place: Place, method: string, params: unknown, toldUntil: number | undefined): void {
    const entry = lineOf(method, params, place)
    if (entry === undefined || (toldUntil !== undefined && entry.timestamp <= toldUntil)) return
    const line = { at: instantOf(params), entry }
    this.waiting.push(line)
    if (toldUntil !== undefined && method === 'Runtime.consoleAPICalled') {
      void this.complete(session, place, line, params as Protocol.Runtime.ConsoleAPICalledEvent)
    }
    this.settle()
  }

  /** Nothing more comes: what waits is told. */
  end(): void {
    this.isBeginning = false
    this.replaying.clear()
    this.asking = 0
    this.settle()
  }

  private settle(): void {
    const mayWait = this.waiting.length < WAITING
    if (mayWait && (this.isBeginning || this.replaying.size > 0 || this.asking > 0)) return
    const lines = this.waiting.sort((one, other) => one.at - other.at)
    this.waiting = []
    for (const { entry } of lines) this.host.tell(entry)
  }

  /** Asks for what is in the objects of a line. */
  private async complete(
    session: string | undefined,
    place: Place,
    line: Line,
    params: Protocol.Runtime.ConsoleAPICalledEvent,
  ): Promise<void> {
    const bare = params.args.filter(({ type, subtype, objectId, preview }) => {
      return type === 'object' && subtype !== 'error' && objectId !== undefined && preview === undefined
    })
    if (bare.length === 0) return
    this.asking += 1
    const looks = bare.map(async (arg) => {
      const asked = { objectId: arg.objectId, functionDeclaration: 'function () { return this }', generatePreview: true, silent: true }
      const { result } = await this.host.command<Protocol.Runtime.CallFunctionOnResponse>(session, 'Runtime.callFunctionOn', asked)
      if (result.preview !== undefined) arg.preview = result.preview
    })
    await Promise.allSettled(looks)
    line.entry = called(params, place) ?? line.entry
    this.asking = Math.max(0, this.asking - 1)
    this.settle()
  }
}

/** When a line was written, more exactly than it is told. */
function instantOf(params: unknown): number {
  const { timestamp, entry } = params as { timestamp?: number; entry?: { timestamp: number } }
  return timestamp ?? entry?.timestamp ?? 0
}

function lineOf(method: string, params: unknown, place: Place): ConsoleEntry | undefined {
  switch (method) {
    case 'Runtime.consoleAPICalled':
      return called(params as Protocol.Runtime.ConsoleAPICalledEvent, place)
    case 'Runtime.exceptionThrown':
      return thrown(params as Protocol.Runtime.ExceptionThrownEvent, place)
    case 'Log.entryAdded':
      return added(params as Protocol.Log.EntryAddedEvent, place)
    default:
      return undefined
  }
}
