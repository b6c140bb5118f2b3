// How long to wait before the next attempt: short at first, longer when the node has been away for long.

/** The first wait, and the longest of the first ten minutes and after, in milliseconds. */
const FIRST = 250
const LONGEST_AT_FIRST = 3_000
const LONGEST = 30_000
const AT_FIRST = 10 * 60_000

/**
 * Milliseconds from the beginning of one attempt to that of the next: `attempt` counts from 0 on, `away` is
 * for how long there has been no connection, `random` is from 0 to 1.
 */
export function delay(attempt: number, away: number, random: number): number {
  const longest = away < AT_FIRST ? LONGEST_AT_FIRST : LONGEST
  const wait = Math.min(longest, FIRST * 2 ** Math.min(attempt, 20))
  // Browsers that lost the same node do not come back all at once.
  return Math.round(wait * (0.5 + random / 2))
}
