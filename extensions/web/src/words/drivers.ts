// Who drives a session, and to whom it is handed over.

import type { Schemas } from '../node/client.ts'

/** The word for no agent, as the command line has it: no agent is called so there. */
export const NOBODY = 'nobody'

/** Who drives a session before it is handed over. */
export interface Driving {
  /** The agent, or the person who took over; none where nobody said that they drive. */
  agent: string | undefined
  /** Whether that is whoever hands it over. */
  own: boolean
}

/** Who drives it, and what becomes of that. */
export function drivesNow({ agent, own }: Driving): string {
  if (agent === undefined) return 'Nobody drives it now.'
  return own
    ? `You drive it now, as ${agent}.`
    : `${agent} drives it now. What ${agent} has connected to the browser ends at once; the tabs stay as they are.`
}

/** Whether a reason is wanted, and who hears it. */
export const whyAsked = (driving: Driving): string =>
  `${takenFrom(driving) === undefined ? 'Not needed' : `Needed, for it is taken from ${driving.agent}`}. The audit log tells it.`

/** From whom it is taken who has not said so: the node wants a reason then. */
export const takenFrom = ({ agent, own }: Driving): string | undefined => (own ? undefined : agent)

/** What became of it. */
export const handed = (to: string | undefined): string =>
  to === undefined ? 'nobody drives it: the next agent that asks gets it' : `${to} drives it from now on`

/** What is wrong with an agent's name. */
export function checkAgent(name: string): string | undefined {
  const isOne = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/.test(name)
  return isOne ? undefined : 'expected 1 to 64 letters from A to Z, digits, "-", "_" or "."'
}

/** What a person typed, as the node is asked for it; or what is wrong, and with which field. */
export function passing(
  typed: { to: string; nobody: boolean; reason: string },
  driving: Driving,
): { body: Schemas['PassSession'] } | { wrong: string; field: 'to' | 'reason' } {
  const [to, reason] = [typed.to.trim(), typed.reason.trim()]
  const nobody = typed.nobody || to === NOBODY
  const bad = nobody ? undefined : checkAgent(to)
  if (bad !== undefined) return { wrong: bad, field: 'to' }
  const from = takenFrom(driving)
  if (from !== undefined && reason === '') return { wrong: `expected why it is taken from ${from}`, field: 'reason' }
  return { body: { ...(nobody ? {} : { to }), ...(reason === '' ? {} : { reason }) } }
}

/** Agents that may be meant, each once and by name, without the one that drives it. */
export function suggested(names: Iterable<string | undefined>, { agent }: Driving): string[] {
  const all = new Set([...names].filter((name) => name !== undefined && name !== agent))
  return [...all].toSorted() as string[]
}
