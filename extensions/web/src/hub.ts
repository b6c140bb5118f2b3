// The one place that knows: who is signed in, what the node told, and how it stands with the node.
//
// Nothing is polled, and nothing is asked while nobody looks: the node tells by itself that something changed, and
// while the page is hidden it is not even listened to.

import { batch, signal } from '@preact/signals'
import { ask, depart, type Node, nodeOf, type Schemas, signIn } from './node/client.ts'
import { events } from './node/events.ts'
import { type Failure, failureOf, unconfirmed } from './node/failure.ts'
import { isAnother, keepOwner, keepValue, keptOwner, keptValue, takeCode } from './node/keep.ts'
import { Writes } from './writes.ts'

/** How it stands with the node. */
export type Link =
  | { is: 'signed-out'; why: Failure | undefined }
  /** Somebody else came than who is signed in here, or was: the person is asked whether it is them. */
  | { is: 'asking'; came: Schemas['PageSession']; before: string | undefined }
  | { is: 'connecting' }
  | { is: 'online' }
  | { is: 'lost'; why: Failure; nextTry: number }

/** How many sessions a question asks for: the most that a node answers. */
const PAGE = 1000
/** A list that is no longer than this is asked for at once, whatever it takes. */
const SHORT = 200
/** How many sessions are kept. */
const MOST_SESSIONS = 20_000
/** How long changes that come together are waited for. */
const TOGETHER_MS = 150
/** The longest pause between two questions for a long list. */
const LONGEST_REST_MS = 3_000
/** The first and the longest pause before a node that is gone is asked again. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

export const link = signal<Link>({ is: 'connecting' })
/** As whom the page asks. */
export const me = signal<Schemas['PageView'] | undefined>(undefined)
/** The sessions, newest first; none before they are known. */
export const sessions = signal<readonly Schemas['SessionSummary'][] | undefined>(undefined)
/** What of sessions was written since it was asked for. */
export const writes = new Writes()
/** Counts up when the tabs that can be looked into are others. */
export const tabChanges = signal(0)
/** Counts up when the sandboxes of this node are others. */
export const sandboxChanges = signal(0)
/** The time, for ages: a new one once a minute, while somebody looks. */
export const now = signal(Date.now())

let found: Node | undefined
let listening = new AbortController()
let retry: ReturnType<typeof setTimeout> | undefined
let pause = FIRST_PAUSE_MS

/** The node; fails where the page is signed out. */
export function node(): Node {
  if (found === undefined) throw failureOf(new Error('the page is signed out'))
  return found
}

/** Whether the page may do what wants this scope. */
export const may = (scope: Schemas['Scope']): boolean => me.value?.scopes.includes(scope) ?? false

/** Begins: takes the code of the address, or what this tab keeps, and follows the node while somebody looks. Answers why a
 * code did not count, where the tab stays signed in. */
export async function begin(): Promise<Failure | undefined> {
  document.addEventListener('visibilitychange', () => (document.hidden ? rest() : wake()))
  setInterval(() => {
    if (!document.hidden) now.value = Date.now()
  }, 60_000)
  const code = takeCode()
  if (code !== undefined) return come(code)
  goOn()
  return undefined
}

/** Comes by an address with a code, which anybody may have sent: it ends nothing that this tab has, and makes nobody
 * somebody else unasked. */
async function come(code: string): Promise<Failure | undefined> {
  try {
    const came = await signIn({ code })
    const before = keptOwner()
    if (isAnother({ value: keptValue(), owner: before }, came.owner)) link.value = { is: 'asking', came, before }
    else take(came)
    return undefined
  } catch (error) {
    const why = failureOf(error)
    if (keptValue() === undefined) {
      goDark(why)
      return undefined
    }
    goOn()
    return why
  }
}

/** The person says whether this tab is from now on who came; one that is not wanted is signed out. */
export async function settle(came: Schemas['PageSession'], isWanted: boolean): Promise<void> {
  if (isWanted) take(came)
  else {
    goOn()
    // What it was given stays nowhere, so it opens nothing even where the node does not hear of it.
    await end(nodeOf(came.value))
  }
}

/** Signs in with a key. */
export async function enter(key: string): Promise<void> {
  link.value = { is: 'connecting' }
  try {
    take(await signIn({ key }))
  } catch (error) {
    goDark(failureOf(error))
  }
}

/** This tab is signed in, and was asked where that is to be asked. */
function take({ value, owner }: Schemas['PageSession']): void {
  keepValue(value)
  keepOwner(owner)
  link.value = { is: 'connecting' }
  start(value)
}

/** Goes on with what this tab keeps. */
function goOn(): void {
  const value = keptValue()
  link.value = value === undefined ? { is: 'signed-out', why: undefined } : { is: 'connecting' }
  if (value !== undefined) start(value)
}

/** Leaves for the provider at which a person signs in; it sends them back with a code. */
export async function goToProvider(): Promise<void> {
  try {
    location.assign((await depart()).url)
  } catch (error) {
    goDark(failureOf(error))
    throw error
  }
}

/** Signs out. A node that does not answer is left all the same, and that it did not confirm it is said. */
export async function leave(): Promise<void> {
  const node = found
  goDark(undefined)
  keepOwner(undefined)
  const why = node === undefined ? undefined : await end(node)
  if (why !== undefined && link.value.is === 'signed-out') link.value = { is: 'signed-out', why: unconfirmed(why) }
}

/** Has the node end what a page may; why it did not say that it did. One that refuses it has ended it before. */
async function end(node: Node): Promise<Failure | undefined> {
  try {
    await ask(node.api.DELETE('/page/session'))
    return undefined
  } catch (error) {
    const why = failureOf(error)
    return why.kind === 'refused' ? undefined : why
  }
}

/** Whatever a request failed with: one that is refused ends the page. */
export function heard(error: unknown): Failure {
  const failure = failureOf(error)
  if (failure.kind === 'refused') goDark(failure)
  return failure
}

/** Asks at once, and not after the pause. */
export function tryNow(): void {
  pause = FIRST_PAUSE_MS
  wake()
}

function start(value: string): void {
  found = nodeOf(value)
  void follow()
}

/** Nobody looks: nothing is listened to. */
function rest(): void {
  listening.abort()
  clearTimeout(retry)
}

function wake(): void {
  rest()
  now.value = Date.now()
  if (found !== undefined) void follow()
}

/** Forgets all that was known. */
function goDark(why: Failure | undefined): void {
  rest()
  keepValue(undefined)
  found = undefined
  batch(() => {
    link.value = { is: 'signed-out', why }
    me.value = undefined
    sessions.value = undefined
    writes.clear()
  })
}

async function follow(): Promise<void> {
  listening.abort()
  listening = new AbortController()
  const { signal } = listening
  const node = found
  if (node === undefined || document.hidden) return
  try {
    const how = { parseAs: 'stream', signal, params: { query: { snapshots: true } } } as const
    const asked = ask(node.api.GET('/page/session', { signal })).then((view) => {
      if (signal.aborted) return
      me.value = view
      keepOwner(view.owner)
    })
    // What changes while the list is on its way is heard of, so it is asked for once the page listens.
    const listened = ask<unknown>(node.streams.GET('/events', how))
    const gatherer = new Gatherer(node, signal)
    const gathered = listened.then(() => gatherer.now())
    const [stream] = await Promise.all([listened, asked, gathered])
    if (signal.aborted) return
    pause = FIRST_PAUSE_MS
    batch(() => {
      link.value = { is: 'online' }
      // What was written while nobody listened is not known.
      writes.all()
      tabChanges.value += 1
      sandboxChanges.value += 1
    })
    for await (const { event, data } of events(stream as ReadableStream<Uint8Array>)) {
      if (event === 'sessions') gatherer.soon()
      if (event === 'tabs') tabChanges.value += 1
      if (event === 'sandboxes') sandboxChanges.value += 1
      if (event === 'snapshots') {
        const { id } = JSON.parse(data) as { id?: string }
        if (id === undefined) writes.all()
        else writes.touch(id)
      }
    }
    if (!signal.aborted) lost(failureOf(new TypeError('the stream ended')))
  } catch (error) {
    if (!signal.aborted) lost(failureOf(error))
  }
}

function lost(failure: Failure): void {
  listening.abort()
  if (failure.kind === 'refused') {
    goDark(failure)
    return
  }
  link.value = { is: 'lost', why: failure, nextTry: Date.now() + pause }
  clearTimeout(retry)
  retry = setTimeout(() => void follow(), pause)
  pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
}

/** Asks for the list: once for all changes that come together, and a long one less often. */
class Gatherer {
  private pending: ReturnType<typeof setTimeout> | undefined
  private rest = TOGETHER_MS
  private running = false
  private again = false

  constructor(
    private readonly node: Node,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => clearTimeout(this.pending))
  }

  async now(): Promise<void> {
    const begun = performance.now()
    const items = await listSessions(this.node, this.signal)
    const took = performance.now() - begun
    this.rest = items.length <= SHORT ? TOGETHER_MS : Math.min(Math.max(TOGETHER_MS, took), LONGEST_REST_MS)
    if (!this.signal.aborted) sessions.value = items
  }

  soon(): void {
    if (this.signal.aborted) return
    if (this.running) {
      this.again = true
      return
    }
    this.pending ??= setTimeout(() => void this.run(), this.rest)
  }

  private async run(): Promise<void> {
    this.pending = undefined
    this.running = true
    try {
      await this.now()
    } catch (error) {
      if (!this.signal.aborted) lost(failureOf(error))
    }
    this.running = false
    if (this.again) {
      this.again = false
      this.soon()
    }
  }
}

async function listSessions(node: Node, signal: AbortSignal): Promise<Schemas['SessionSummary'][]> {
  const items: Schemas['SessionSummary'][] = []
  let after: string | undefined
  do {
    const query = { limit: PAGE, ...(after === undefined ? {} : { after }) }
    const page = await ask(node.api.GET('/sessions', { params: { query }, signal }))
    items.push(...page.items)
    after = page.next ?? undefined
  } while (after !== undefined && items.length < MOST_SESSIONS)
  return items
}
