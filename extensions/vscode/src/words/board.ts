// What the status bar says of the board.

import { activeAgents } from '../board.ts'
import type { Known } from '../known.ts'
import { count } from './amounts.ts'
import type { Shown } from './sync.ts'

/** How many agents are at work; nothing where no board is in use. */
export function boardShown(known: Known): Shown | undefined {
  if (known.link !== 'online' || known.board === undefined) return undefined
  const active = activeAgents(known.board)
  const lines = active.map((agent) => `${agent.name}: ${agent.task ?? 'no task'}`)
  const driven = known.driven.map((one) => `${one.agent} drives ${one.session}`)
  return {
    icon: 'organization',
    text: `${count(active.length, 'agent')} active`,
    tooltip: [...lines, ...driven].join('\n') || 'Nobody is at work',
    loud: false,
    command: 'baton.tree.focus',
  }
}
