// A file that a person gives: what keeps it from being sent, said before any of it is.

import { size } from '../../../shared/amounts.ts'

/** How large a file may be that becomes one of a session, in bytes: the node takes no larger one. */
const MOST_BYTES = 128 << 20

/** What is wrong with a file that is to be sent. */
export function checkFile(file: { name: string; size: number }): string | undefined {
  if (file.size <= MOST_BYTES) return undefined
  return `expected a file of at most ${size(MOST_BYTES)}, found ${file.name} with ${size(file.size)}`
}
