// A small client of the DevTools protocol over a pipe.
//
// It attaches to what a test names and to nothing else: a client that attaches to every target, as larger
// ones do, would keep the extension's worker awake, and tests want it to die.

import type { Readable, Writable } from 'node:stream'

type Params = Record<string, unknown>
interface Call {
  done(result: Params): void
  fail(error: Error): void
}
export type Listener = (method: string, params: Params, session: string | undefined) => void

/** The largest time that a command may take, in milliseconds. */
const LIMIT = 30_000

export class Cdp {
  private readonly calls = new Map<number, Call>()
  private readonly listeners = new Set<Listener>()
  private last = 0
  private rest = ''

  constructor(
    private readonly input: Writable,
    output: Readable,
  ) {
    input.on('error', () => {})
    output.setEncoding('utf8')
    output.on('data', (data: string) => this.read(data))
    output.on('close', () => this.end())
  }

  /** Sends a command. */
  async send<T = Params>(method: string, params: Params = {}, session?: string): Promise<T> {
    const id = (this.last += 1)
    const timer = setTimeout(() => this.calls.get(id)?.fail(new Error(`no answer to ${method}`)), LIMIT)
    try {
      return await new Promise<T>((done, fail) => {
        this.calls.set(id, { done: done as (result: Params) => void, fail })
        this.input.write(`${JSON.stringify({ id, method, params, ...(session && { sessionId: session }) })}\0`)
      })
    } finally {
      clearTimeout(timer)
      this.calls.delete(id)
    }
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  private read(data: string): void {
    const parts = (this.rest + data).split('\0')
    this.rest = parts.pop() ?? ''
    for (const part of parts) this.take(JSON.parse(part) as Params)
  }

  private take(message: Params): void {
    const { id, method, params, error, result, sessionId } = message
    if (typeof id !== 'number') {
      for (const listener of this.listeners) listener(String(method), params as Params, sessionId as string | undefined)
      return
    }
    const call = this.calls.get(id)
    if (error === undefined) call?.done(result as Params)
    else call?.fail(new Error((error as { message: string }).message))
  }

  private end(): void {
    for (const call of this.calls.values()) call.fail(new Error('the browser ended'))
  }
}
