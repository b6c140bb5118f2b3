// What the extension asks a node over HTTP: to be paired, and for a ticket to its socket.

import { ATTEMPT_MS, MOST_BODY_BYTES, PAIRING_MS } from '../limits.ts'
import { type Cocoon, type OwnNames, isRecord } from '../protocol.ts'
import { readNames } from '../secrets/names.ts'
import { readCocoons } from '../tabs/scope.ts'
import { checkSignalingUrl, originOf } from './address.ts'

/** What the node gave for a code. */
export interface Pairing {
  key: string
  signaling_url: string
}

/** What the node gave for the key. */
export interface Connection {
  ticket: string
  cocoons: Cocoon[]
  response_body_max_size: number | undefined
  redact: OwnNames
}

/** A node said no. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** Exchanges a code for a key. */
export async function exchange(address: string, code: string, browserId: string): Promise<Pairing> {
  const answer = await post(`${originOf(address)}/debug/pair/exchange`, { code: code.trim(), browser_id: browserId }, undefined, PAIRING_MS)
  const { key, signaling_url } = answer
  if (typeof key !== 'string' || key === '' || typeof signaling_url !== 'string') {
    throw new Error('expected a key from the node, found another answer; is this the address of a Baton node?')
  }
  return { key, signaling_url: checkSignalingUrl(signaling_url) }
}

/** Asks for a ticket, and which cocoons there are. */
export async function connect(signalingUrl: string, key: string, browserId: string): Promise<Connection> {
  const answer = await post(`${originOf(signalingUrl)}/debug/connect`, { browser_id: browserId }, key, ATTEMPT_MS)
  const { ticket, cocoons, response_body_max_size: most, redact } = answer
  if (typeof ticket !== 'string') throw new Error('expected a ticket from the node, found another answer')
  const isSize = typeof most === 'number' && most >= 0
  return {
    ticket,
    cocoons: readCocoons(cocoons),
    response_body_max_size: isSize ? Math.min(most, MOST_BODY_BYTES) : undefined,
    redact: readNames(redact),
  }
}

async function post(url: string, body: object, key: string | undefined, within: number): Promise<Record<string, unknown>> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (key !== undefined) headers['authorization'] = `Bearer ${key}`
  let answer: Response
  try {
    answer = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
      signal: AbortSignal.timeout(within),
    })
  } catch {
    throw new Error(`expected an answer from ${new URL(url).origin}, found none; is the node running?`)
  }
  const said: unknown = await answer.json().catch(() => undefined)
  if (!answer.ok) throw new Refused(answer.status, reason(answer.status, said))
  return isRecord(said) ? said : {}
}

/** Why, from a problem (RFC 9457) of the node. */
function reason(status: number, problem: unknown): string {
  if (!isRecord(problem)) return `the node answered with status ${status}`
  const parts = [problem['detail'], problem['hint']].filter((part) => typeof part === 'string' && part !== '')
  return parts.length > 0 ? parts.join('\n') : `the node answered with status ${status}`
}
