// A guest at an ask: what a link is for, the button that counts once, and what opens the ask from then on.
//
// The secret of the link stays in the address until the button is pressed, so that a page that is loaded again knows
// it. Then a value takes its place, which this tab alone keeps; with it goes a cookie, and neither opens anything alone.

import { signal } from '@preact/signals'
import createClient, { type Client } from 'openapi-fetch'
import type { paths } from '../../../shared/api.ts'
import { ask, type Schemas } from '../node/client.ts'
import { Failure, failureOf } from '../node/failure.ts'
import { checkFile } from '../words/files.ts'

export type Ask = Schemas['GuestView']

/** How it stands with the guest. */
export type Visit =
  | { is: 'asking' }
  | { is: 'invited'; ask: Ask; secret: string; why?: Failure }
  | { is: 'inside'; ask: Ask; value: string; why?: Failure }
  | { is: 'over'; ask: Ask }
  | { is: 'refused'; why: Failure }

export const visit = signal<Visit>({ is: 'asking' })
/** Whether something is under way that was pressed. */
export const pressed = signal(false)

const VALUE = 'baton-guest'
/** To open it, the browser is captured. */
const LIMIT_MS = 3 * 60_000
const OVER: readonly Ask['state'][] = ['done', 'declined', 'timed_out', 'withdrawn', 'lost']

function client(value?: string): Client<paths> {
  const send = (request: Request) =>
    fetch(request, { signal: AbortSignal.timeout(LIMIT_MS), redirect: 'error', cache: 'no-store' })
  const headers = value === undefined ? {} : { 'Baton-Guest': value }
  return createClient<paths>({ baseUrl: location.origin, headers, fetch: send })
}

/** Begins with what the address says, or with what this tab keeps. */
export async function arrive(secret: string | undefined): Promise<void> {
  visit.value = { is: 'asking' }
  const value = sessionStorage.getItem(VALUE)
  try {
    if (secret !== undefined)
      visit.value = { is: 'invited', secret, ask: await ask(client().POST('/asked/look', { body: { secret } })) }
    else if (value !== null) enter(await ask(client(value).GET('/asked')), value)
    else throw failureOf(new Error('expected a link that counts, found none'))
  } catch (error) {
    visit.value = { is: 'refused', why: failureOf(error) }
  }
}

function enter(found: Ask, value: string): void {
  const isOver = OVER.includes(found.state)
  if (isOver) sessionStorage.removeItem(VALUE)
  visit.value = isOver ? { is: 'over', ask: found } : { is: 'inside', ask: found, value }
}

/** Does what was pressed, once at a time. */
async function press(work: () => Promise<void>, failed: (why: Failure) => void): Promise<void> {
  if (pressed.value) return
  pressed.value = true
  try {
    await work()
  } catch (error) {
    failed(failureOf(error))
  }
  pressed.value = false
}

/** Presses the button of a link: it opens here, or is declined. */
export async function answer(name: string, decline: boolean): Promise<void> {
  const at = visit.value
  if (at.is !== 'invited') return
  const { secret } = at
  const work = async () => {
    const typed = name.trim()
    const body = { secret, decline, ...(typed === '' ? {} : { name: typed }) }
    const { value, ...found } = await ask(client().POST('/asked/open', { body }))
    if (value != null) sessionStorage.setItem(VALUE, value)
    // What counts no more need not lie in the history.
    history.replaceState(null, '', '#/asked')
    if (value == null) visit.value = { is: 'over', ask: found }
    else enter(found, value)
  }
  await press(work, (why) => (visit.value = { ...at, why }))
}

/** The guest is done, or cannot do it. */
export async function end(done: boolean): Promise<void> {
  const at = visit.value
  if (at.is !== 'inside') return
  const work = async () => enter(await ask(client(at.value).POST('/asked/end', { body: { done } })), at.value)
  await press(work, (why) => (visit.value = { ...at, why }))
  if (visit.value.is === 'inside' && visit.value.why !== undefined) await refresh(at.value)
}

/** Looks where it stands: what has ended shows no picture any more. */
export async function refresh(value: string): Promise<void> {
  try {
    enter(await ask(client(value).GET('/asked')), value)
  } catch (error) {
    const why = failureOf(error)
    if (why.kind === 'refused') visit.value = { is: 'refused', why }
  }
}

/** An address that shows the one tab, once. */
export async function liveAddress(value: string): Promise<string> {
  try {
    return (await ask(client(value).POST('/asked/live'))).live_url
  } catch (error) {
    await refresh(value)
    throw error
  }
}

/** Gives a file to the session. */
export async function giveFile(value: string, file: File): Promise<void> {
  const wrong = checkFile(file)
  if (wrong !== undefined) throw new Failure('file', wrong)
  const how = {
    params: { path: { name: file.name } },
    body: file as never,
    bodySerializer: (body: unknown) => body as Blob,
  }
  const headers = { 'Content-Type': 'application/octet-stream' }
  await ask(client(value).PUT('/asked/files/{name}', { ...how, headers }))
}
