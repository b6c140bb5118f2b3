// The node as this page asks it: a client typed by the node's own document, which shows the page's half of what opens it.

import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from '../api.ts'
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

/** A client that shows this value with each request. */
export function nodeOf(value: string): Node {
  const of = (limit?: number) => {
    const send = (request: Request) => {
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

/** Signs the page in, with a code that counts once or with an API key. */
export async function signIn(by: { code: string } | { key: string }): Promise<Schemas['PageSession']> {
  const key = 'key' in by ? { Authorization: `Bearer ${by.key}` } : {}
  const api = createClient<paths>({ baseUrl: location.origin, headers: key })
  const body = 'code' in by ? { code: by.code } : {}
  return ask(api.POST('/page/session', { body, signal: AbortSignal.timeout(SHORT_MS) }))
}
