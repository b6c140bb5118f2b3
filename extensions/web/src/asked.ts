// What is asked for only while it is shown: a few at a time, kept while it counts, and forgotten when there is much.

import { computed, effect, type Signal, signal, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { pause } from '../../shared/pause.ts'
import { heard, node, writes } from './hub.ts'
import { ask, type Schemas } from './node/client.ts'
import { type Failure, failureOf } from './node/failure.ts'

/** What was asked for: before the answer, what was known before. */
export interface Asked<T> {
  value: T | undefined
  failure: Failure | undefined
  busy: boolean
}

/** How many requests are under way at once. */
const AT_ONCE = 6
/** How many answers are kept of a kind. */
const MOST_KEPT = 400
/** How long it rests before it asks again for what may only not have come just then, each time. */
const RESTS_MS = [1_000, 2_000, 4_000, 8_000, 16_000]

let running = 0
const waiting: (() => void)[] = []

/** Does some work when it is its turn, unless it is not wanted any more by then. */
async function turn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    // The latest is what is on the screen now.
    await new Promise<void>((go) => waiting.push(go))
  }
  running += 1
  try {
    signal.throwIfAborted()
    return await work()
  } finally {
    running -= 1
    waiting.pop()?.()
  }
}

const ALL: Answers<unknown>[] = []

/** Forgets every answer. */
export const forgetAll = (): void => {
  for (const answers of ALL) answers.clear()
}

/** Answers by a key and a stamp: one with another stamp is asked for again, and shown until then. */
export class Answers<T> {
  private readonly kept = new Map<string, { stamp: string; asked: Signal<Asked<T>> }>()

  constructor(
    private readonly request: (key: string, signal: AbortSignal) => Promise<T>,
    private readonly forget: (value: T) => void = () => undefined,
    private readonly most = MOST_KEPT,
    private readonly rests: readonly number[] = RESTS_MS,
  ) {
    ALL.push(this as Answers<unknown>)
  }

  /** The answer for a key, asked for while it is shown. */
  use(key: string | undefined, stamp: () => string): Signal<Asked<T>> {
    const asked = useMemo(() => (key === undefined ? signal<Asked<T>>(NOTHING) : this.find(key)), [key])
    // What is drawn anew may know of another stamp.
    const latest = useSignal(stamp)
    useEffect(() => {
      latest.value = stamp
    })
    useEffect(() => {
      if (key === undefined) return
      let stop = new AbortController()
      const wanted = computed(() => latest.value())
      const dispose = effect(() => {
        const wants = wanted.value
        stop.abort()
        stop = new AbortController()
        void this.fetch(key, wants, stop.signal)
      })
      return () => {
        dispose()
        stop.abort()
      }
    }, [key])
    return asked
  }

  /** An answer that came otherwise. */
  put(key: string, value: T): void {
    this.find(key).value = { value, failure: undefined, busy: false }
  }

  /** What is known by now, without a question. */
  known(): T[] {
    return [...this.kept.values()].map(({ asked }) => asked.peek().value).filter((value) => value !== undefined)
  }

  /** Forgets all of them: who looks next may be another person. */
  clear(): void {
    for (const { asked } of this.kept.values()) {
      const { value } = asked.peek()
      if (value !== undefined) this.forget(value)
    }
    this.kept.clear()
  }

  private find(key: string): Signal<Asked<T>> {
    const found = this.kept.get(key)
    if (found !== undefined) {
      // The last one that was wanted is forgotten last.
      this.kept.delete(key)
      this.kept.set(key, found)
      return found.asked
    }
    if (this.kept.size >= this.most) {
      const [oldest] = this.kept
      if (oldest !== undefined) {
        this.kept.delete(oldest[0])
        const value = oldest[1].asked.peek().value
        if (value !== undefined) this.forget(value)
      }
    }
    const asked = signal<Asked<T>>(NOTHING)
    this.kept.set(key, { stamp: '', asked })
    return asked
  }

  private async fetch(key: string, stamp: string, signal: AbortSignal): Promise<void> {
    const asked = this.find(key)
    const entry = this.kept.get(key)
    if (entry === undefined || entry.stamp === stamp) return
    asked.value = { ...asked.peek(), busy: true }
    try {
      const value = await this.patiently(key, signal, (failure) => {
        asked.value = { ...asked.peek(), failure }
      })
      const before = asked.peek().value
      entry.stamp = stamp
      asked.value = { value, failure: undefined, busy: false }
      if (before !== undefined && before !== value) setTimeout(() => this.forget(before), 1_000)
    } catch (error) {
      if (signal.aborted) {
        asked.value = { ...asked.peek(), busy: false }
        return
      }
      entry.stamp = stamp
      asked.value = { ...asked.peek(), failure: heard(error), busy: false }
    }
  }

  /** Asks, and again where it may only not have come just then and somebody looks. */
  private async patiently(key: string, signal: AbortSignal, tell: (failure: Failure) => void): Promise<T> {
    for (const rest of this.rests) {
      try {
        return await turn(signal, () => this.request(key, signal))
      } catch (error) {
        const failure = failureOf(error)
        if (signal.aborted || document.hidden || !failure.mayPass) throw error
        tell(failure)
      }
      await pause(rest, signal)
    }
    return turn(signal, () => this.request(key, signal))
  }
}

const NOTHING: Asked<never> = { value: undefined, failure: undefined, busy: false }

const path = (id: string) => ({ params: { path: { id } } })

/** What of a session has to be asked for again once it is another one. */
export const stampOf = (id: string, session: Schemas['SessionSummary'] | undefined): string =>
  `${session?.updated_at} ${session?.state} ${session?.agent?.agent} ${writes.stamp(id)}`

/** Sessions in full. */
export const views = new Answers<Schemas['SessionView']>((id, signal) =>
  ask(node().api.GET('/sessions/{id}', { ...path(id), signal })),
)

/** Where sessions are signed in. */
export const logins = new Answers<Schemas['LoginList']>((id, signal) =>
  ask(node().api.GET('/sessions/{id}/logins', { ...path(id), signal })),
)

/** The files of sessions. */
export const files = new Answers<Schemas['SessionFiles']>((id, signal) =>
  ask(node().api.GET('/sessions/{id}/files', { ...path(id), signal })),
)

/** How many snapshots a question asks for, and how many are shown. */
const HISTORY_PAGE = 200
const HISTORY_MOST = 10_000

/** The histories of sessions, whole. */
export const histories = new Answers<Schemas['History']>(async (id, signal) => {
  const whole: Schemas['History'] = { items: [], damaged: [] }
  let after: string | undefined
  do {
    const query = { limit: HISTORY_PAGE, ...(after === undefined ? {} : { after }) }
    const page = await ask(node().api.GET('/sessions/{id}/history', { params: { path: { id }, query }, signal }))
    whole.items.push(...page.items)
    whole.damaged?.push(...(page.damaged ?? []))
    whole.resumes_from ??= page.resumes_from ?? null
    after = page.next ?? undefined
  } while (after !== undefined && whole.items.length < HISTORY_MOST)
  return whole
})

/** How many comparisons are kept: each may name all that two snapshots hold. */
const DIFFS_MOST = 8

/** What changed between two snapshots of a session (`ID/BEFORE/AFTER`). */
export const diffs = new Answers<Schemas['DiffView']>(
  (key, signal) => {
    const [id = '', a = '', b = ''] = key.split('/')
    return ask(node().patient.GET('/sessions/{id}/diff', { params: { path: { id }, query: { a, b } }, signal }))
  },
  undefined,
  DIFFS_MOST,
  [],
)

/** A picture is a PNG of this size at most, in bytes. */
const MOST_BYTES = 4 << 20
const PNG = [0x89, 0x50, 0x4e, 0x47]

/** What is a PNG as an address of this page; an empty one where there is no picture. */
async function pictured(request: Promise<unknown>): Promise<string> {
  let blob: Blob
  try {
    blob = (await request) as Blob
  } catch (error) {
    if (heard(error).code === 'no_snapshot') return ''
    throw error
  }
  const head = new Uint8Array(await blob.slice(0, PNG.length).arrayBuffer())
  const isPng = blob.size <= MOST_BYTES && PNG.every((byte, index) => head[index] === byte)
  return isPng ? URL.createObjectURL(new Blob([blob], { type: 'image/png' })) : ''
}

const revoke = (url: string) => {
  if (url !== '') URL.revokeObjectURL(url)
}

/** Pictures of sessions (`ID`) and of their snapshots (`ID/SNAPSHOT`). */
export const pictures = new Answers<string>((key, signal) => {
  const [id = '', snapshot] = key.split('/')
  const query = snapshot === undefined ? {} : { snapshot }
  const how = { parseAs: 'blob', signal, params: { path: { id }, query } } as const
  return pictured(ask<unknown>(node().api.GET('/sessions/{id}/preview', how)))
}, revoke)

/** Icons of sessions. */
export const icons = new Answers<string>((id, signal) => {
  const how = { parseAs: 'blob', signal, ...path(id) } as const
  return pictured(ask<unknown>(node().api.GET('/sessions/{id}/icon', how)))
}, revoke)
