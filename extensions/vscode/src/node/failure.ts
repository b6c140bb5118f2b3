// Why something could not be done, in words that say what to do.

import type { components } from '../../../shared/api.ts'

type Problem = components['schemas']['Problem']

/** What kind of failure it is: the node's own code, or one of ours. */
export type Kind =
  | 'settings'
  | 'none'
  | 'refused'
  | 'unreachable'
  | 'version'
  | 'not_baton'
  | 'cancelled'
  | 'program'
  | 'file'
  | 'node'

/** Something that could not be done. */
export class Failure extends Error {
  constructor(
    readonly kind: Kind,
    message: string,
    readonly hint: string | undefined = undefined,
    readonly code: string | undefined = undefined,
  ) {
    super(message)
    this.name = 'Failure'
  }

  /** One text for people. */
  get text(): string {
    return this.hint === undefined ? this.message : `${this.message}. What to do: ${this.hint}`
  }
}

/** What a node answered that is no success. */
export function refusal(status: number, body: unknown): Failure {
  const problem = readProblem(body)
  if (status === 401) {
    const detail = problem?.detail ?? 'the node wants a key'
    return new Failure('refused', `the node does not take the key: ${detail}`, 'run "Baton: Set the Node\'s Key"', problem?.code)
  }
  if (problem === undefined) {
    return new Failure('not_baton', `expected an answer of a Baton node, found status ${status}`, 'check baton.nodeUrl')
  }
  return new Failure('node', problem.detail || problem.title, problem.hint ?? undefined, problem.code)
}

/** Whatever was thrown, as a failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
    return new Failure('unreachable', 'the node did not answer in time', 'look into its log, or start it again')
  }
  if (error instanceof TypeError) {
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
    return new Failure('unreachable', `the node does not answer${cause}`, 'start it, or check baton.nodeUrl')
  }
  return new Failure('node', error instanceof Error ? error.message : String(error))
}

function readProblem(body: unknown): Problem | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const { code, detail, title } = body as Record<string, unknown>
  return typeof code === 'string' && typeof detail === 'string' && typeof title === 'string' ? (body as Problem) : undefined
}
