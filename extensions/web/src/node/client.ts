// The node as this page asks it: a client typed by the node's own document, which shows the page's half of what opens it.

import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from '../../../shared/api.ts'
import { failureOf, refusal } from './failure.ts'

export type Schemas = components['schemas']
export type Api = Client<paths>

/** How long a short question may take. */
const SHORT_MS = 30_000
/** How long it may take to bring a session back; the node has limits of its own, which say what was slow. */
const LONG_MS = 9 * 60_000

/** A node that is asked. */
export interface Node {
  /** For what is answered at once. */
  api: Api
  /** For what takes a browser or a file. */
  patient: Api
  /** For what stays open. */
  streams: Api
}

/** As whom a person acts who has taken a session over, by its id. */
export const acting = {
  names: new Map<string, string>(),
  set(id: string, name: string | undefined): void {
    if (name === undefined) this.names.delete(id)
    else this.names.set(id, name)
  },
}

/** The session that a request is about, if it is about one. */
const aboutSession = (url: string): string => /\/sessions\/([0-9a-f-]{36})\//.exec(url)?.[1] ?? ''

/** A client that shows this value with each request. */
export function nodeOf(value: string): Node {
  const of = (limit?: number) => {
    const send = (request: Request) => {
      const name = acting.names.get(aboutSession(request.url))
      if (name !== undefined) request.headers.set('Baton-Agent', name)
      const signal = limit === undefined ? request.signal : AbortSignal.any([request.signal, AbortSignal.timeout(limit)])
      return fetch(request, { signal, redirect: 'error', cache: 'no-store' })
    }
    return createClient<paths>({ baseUrl: location.origin, headers: { 'Baton-Page': value }, fetch: send })
  }
  return { api: of(SHORT_MS), patient: of(LONG_MS), streams: of() }
}

/** The answer to a request, or why there is none. */
export async function ask<T>(request: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let answer: { data?: T; error?: unknown; response: Response }
  try {
    answer = await request
  } catch (error) {
    throw error instanceof SyntaxError ? refusal(200, undefined) : failureOf(error)
  }
  if (!answer.response.ok) throw refusal(answer.response.status, answer.error)
  return answer.data as T
}

/** How people sign in here beside a key; asked before anybody is. */
export async function ways(): Promise<Schemas['PageWays']> {
  const api = createClient<paths>({ baseUrl: location.origin })
  return ask(api.GET('/page/ways', { signal: AbortSignal.timeout(SHORT_MS) }))
}

/** Where this browser goes so that a person signs in there. */
export async function depart(): Promise<Schemas['PageDeparture']> {
  const api = createClient<paths>({ baseUrl: location.origin })
  return ask(api.POST('/page/oidc', { signal: AbortSignal.timeout(SHORT_MS) }))
}

/** Signs the page in, with a code that counts once or with an API key. */
export async function signIn(by: { code: string } | { key: string }): Promise<Schemas['PageSession']> {
  const key = 'key' in by ? { Authorization: `Bearer ${by.key}` } : {}
  const api = createClient<paths>({ baseUrl: location.origin, headers: key })
  const body = 'code' in by ? { code: by.code } : {}
  return ask(api.POST('/page/session', { body, signal: AbortSignal.timeout(SHORT_MS) }))
}
