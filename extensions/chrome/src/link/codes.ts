// Why the node ends a connection: its close codes, one table for both sides (`LinkEnd` in the node's API).
//
// A test of the node reads this file: a code that only one side knows fails there.

export const CODES = {
  left: 1000,
  ending: 1001,
  garbage: 1008,
  too_long: 1009,
  too_many: 1013,
  no_ticket: 4401,
  revoked: 4403,
  silent: 4408,
  replaced: 4409,
} as const

export type End = keyof typeof CODES

/** What a code says; none when the connection was lost. */
export function endOf(code: number): End | undefined {
  return (Object.keys(CODES) as End[]).find((end) => CODES[end] === code)
}

/** The ends after which nothing gets better by coming back, and what they say to people. */
export const FINAL = {
  revoked: 'The pairing ended: pair again',
  replaced: 'Another browser with a copy of this profile is connected: pair this one by itself',
} as const

export type Final = keyof typeof FINAL

/** The others, in words for people. */
export const REASONS: Record<Exclude<End, Final>, string> = {
  left: 'the connection was lost',
  ending: 'the node ended',
  garbage: 'the node did not understand what was sent',
  too_long: 'a message was too long for the node',
  too_many: 'too many connections are held with this pairing',
  no_ticket: 'the ticket was not accepted',
  silent: 'the node heard nothing for too long',
}

/** Ends that come again at once where nothing else changes. */
export const SLOW: ReadonlySet<End> = new Set<End>(['garbage', 'too_long', 'too_many'])
