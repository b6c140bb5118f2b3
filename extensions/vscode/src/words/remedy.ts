// What a person can do at once about a failure.

import type { Failure, Kind } from '../node/failure.ts'

/** A button, and what it runs. */
export interface Remedy {
  title: string
  command: string
  words: string[]
}

const REMEDIES: Partial<Record<Kind, Remedy>> = {
  none: remedy('Start the Local Node', 'baton.startNode'),
  unreachable: remedy('Look Again', 'baton.refresh'),
  refused: remedy('Set the Key', 'baton.setKey'),
  settings: remedy('Open Settings', 'workbench.action.openSettings', 'baton'),
  program: remedy('Open Settings', 'workbench.action.openSettings', 'baton.program'),
  not_baton: remedy('Open Settings', 'workbench.action.openSettings', 'baton.nodeUrl'),
}

/** The remedy, where there is one. */
export function remedyOf(failure: Failure): Remedy | undefined {
  return REMEDIES[failure.kind]
}

/** A remedy with what it runs. */
export function remedy(title: string, command: string, ...words: string[]): Remedy {
  return { title, command, words }
}
