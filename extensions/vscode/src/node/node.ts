// A node that answers: who it is, and a client of its API, whose requests are typed by its own document.

import createClient, { type Client } from 'openapi-fetch'
import type { paths } from '../../../shared/api.ts'
import type { Schemas } from '../../../shared/schemas.ts'
import { Failure, failureOf, refusal } from './failure.ts'
import type { Place } from './place.ts'

export type { Schemas }
export type Api = Client<paths>

/** How long a short question may take. */
const SHORT_MS = 30_000
/** How long it may take to bring a session back, or to move one. */
const LONG_MS = 290_000
/** How long a node may take to say who it is. */
const GREETING_MS = 5_000

/** A node that answered, and takes our key. */
export interface Node {
  place: Place
  health: Schemas['Health']
  /** For what is answered at once. */
  api: Api
  /** For what takes a browser or a network. */
  patient: Api
  /** For what stays open. */
  streams: Api
}

/** Asks who is there before it shows the key, and then whether the key opens it. */
export async function connect(place: Place, version: string): Promise<Node> {
  const stranger = apiOf({ ...place, key: undefined }, GREETING_MS)
  const health = await ask(stranger.GET('/health'))
  if (typeof health?.node_id !== 'string' || typeof health.version !== 'string') {
    throw new Failure('not_baton', `expected a Baton node at ${place.url.origin}, found another program`, 'check baton.nodeUrl')
  }
  if (place.nodeId !== undefined && place.nodeId !== health.node_id) {
    throw new Failure('none', 'no node runs any more: another one has its address', 'run "Baton: Start the Local Node"')
  }
  checkVersion(health.version, version)
  if (place.key === undefined || place.key === '') {
    throw new Failure('refused', `the node at ${place.url.origin} wants a key`, 'run "Baton: Set the Node\'s Key"')
  }
  const node = { place, health, api: apiOf(place, SHORT_MS), patient: apiOf(place, LONG_MS), streams: apiOf(place) }
  await ask(node.api.GET('/sessions', { params: { query: { limit: 1 } } }))
  return node
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

/** Of the same major version, and before 1.0 of the same minor one, both know the same API. */
export function checkVersion(found: string, ours: string): void {
  const line = (version: string) => /^(\d+)\.(\d+)\./.exec(version)?.slice(1)
  const [there, here] = [line(found), line(ours)]
  const isSame = there?.[0] === here?.[0] && (here?.[0] !== '0' || there?.[1] === here[1])
  if (there === undefined || !isSame) {
    const hint = 'install the extension of the same version as the node, or another node'
    throw new Failure('version', `expected a node of version ${here?.join('.')}, found ${found.slice(0, 40)}`, hint)
  }
}

function apiOf(place: Place, limit?: number): Api {
  const headers = place.key === undefined ? {} : { Authorization: `Bearer ${place.key}` }
  const send = (request: Request) => {
    const signal = limit === undefined ? request.signal : AbortSignal.any([request.signal, AbortSignal.timeout(limit)])
    return fetch(request, { signal, redirect: 'error' })
  }
  return createClient<paths>({ baseUrl: place.url.href.replace(/\/$/, ''), headers, fetch: send })
}
