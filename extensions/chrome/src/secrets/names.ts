// Names of the node's own by which secrets are told, besides those that are known anyway.
//
// All tabs hide by them, for the browser is paired with one node. They are kept with the settings, and so they
// are there before the node is.

import { OWN_NAME, OWN_NAMES } from '../limits.ts'
import { type OwnNames, isRecord } from '../protocol.ts'

/** None besides those that are known anyway. */
export const NO_NAMES: OwnNames = { names: [], allow: [] }

/** What a node says of its names, without what makes no sense. */
export function readNames(said: unknown): OwnNames {
  if (!isRecord(said)) return NO_NAMES
  return { names: readList(said['names']), allow: readList(said['allow']) }
}

function readList(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  const isName = (one: unknown): one is string => typeof one === 'string' && one.length <= OWN_NAME
  return list.slice(0, OWN_NAMES).filter(isName)
}
