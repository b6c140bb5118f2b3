// Why something could not be done, in words that say what to do.

import type { components } from '../../../shared/api.ts'

type Problem = components['schemas']['Problem']

/** What kind of failure it is. */
export type Kind = 'refused' | 'unreachable' | 'file' | 'node'

/** Something that could not be done. */
export class Failure extends Error {
  constructor(
    readonly kind: Kind,
    message: string,
    readonly hint: string | undefined = undefined,
    readonly code: string | undefined = undefined,
    /** Whether the same may be done a little later. */
    readonly mayPass = kind === 'unreachable',
  ) {
    super(message)
    this.name = 'Failure'
  }
}

/** That the node did not say that it signed a page out, and why not. */
export function unconfirmed(why: Failure): Failure {
  const message = `the node did not confirm that it signed this page out: ${why.message}`
  const hint = 'this page has forgotten what opened the node; where that is not enough, baton keys revoke ends its key'
  return new Failure(why.kind, message, hint, why.code)
}

/** What is answered to what may be answered a little later. */
const PASSING = [429, 502, 503, 504]

/** What a node answered that is no success. */
export function refusal(status: number, body: unknown): Failure {
  const problem = readProblem(body)
  const passes = PASSING.includes(status)
  if (problem === undefined)
    return new Failure(
      'unreachable',
      `something else answered in the node's place (status ${status})`,
      undefined,
      undefined,
      passes,
    )
  const { detail, title, hint, code } = problem
  const kind = status === 401 ? 'refused' : 'node'
  return new Failure(kind, detail || title, hint ?? undefined, code, passes)
}

/** Whatever was thrown, as a failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return new Failure('unreachable', 'the node did not answer in time', undefined, undefined, false)
  if (error instanceof TypeError || error instanceof DOMException) return new Failure('unreachable', 'the node does not answer')
  return new Failure('node', error instanceof Error ? error.message : String(error))
}

function readProblem(body: unknown): Problem | undefined {
  let found = body
  if (typeof body === 'string') {
    try {
      found = JSON.parse(body)
    } catch {
      return undefined
    }
  }
  if (typeof found !== 'object' || found === null) return undefined
  const { code, detail, title } = found as Record<string, unknown>
  return typeof code === 'string' && typeof detail === 'string' && typeof title === 'string' ? (found as Problem) : undefined
}
