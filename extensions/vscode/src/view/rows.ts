// The tree, as plain data: what each row says, and what can be done with it.

import { age } from '../../../shared/amounts.ts'
import type { Board } from '../board.ts'
import type { Known } from '../known.ts'
import type { Schemas } from '../node/node.ts'
import { count, shortRev } from '../words/amounts.ts'

/** A row of the tree. */
export interface Row {
  id: string
  label: string
  description?: string
  tooltip?: string
  icon?: string
  /** What menus know it by. */
  context?: string
  /** The session, peer or tab that it is about. */
  subject?: string
  /** What a click runs, with the subject. */
  command?: string
  open?: boolean
  children?: Row[]
}

const STATES: [Schemas['SessionSummary']['state'], string, string][] = [
  ['active', 'Active', 'vm-running'],
  ['recoverable', 'Recoverable', 'debug-pause'],
  ['stale', 'Stale', 'history'],
  ['failed', 'Failed', 'error'],
  ['closed', 'Closed', 'circle-slash'],
]

/** All rows. */
export function rows(known: Known, now: number): Row[] {
  if (known.link !== 'online') return []
  return [
    ...conflictRows(known.sync?.conflicts ?? [], now),
    ...STATES.flatMap(([state, label, icon]) => stateRow(known, state, label, icon, now)),
    peersRow(known, now),
    ...(known.board === undefined ? [] : [boardRow(known.board, now)]),
    ...tabsRow(known),
    ...known.missing.map(({ what, why }) => ({
      id: `missing:${what}`,
      label: 'Not shown',
      description: `${what}: ${why}`,
      icon: 'warning',
    })),
  ]
}

function conflictRows(conflicts: Schemas['ConflictView'][], now: number): Row[] {
  if (conflicts.length === 0) return []
  const children = conflicts.map((one) => ({
    id: `conflict:${one.sessionId}`,
    label: one.name,
    description: `${shortRev(one.current.rev)} counts, ${count(one.siblings.length, 'other')} of ${age(one.siblings[0]?.lastModified, now)}`,
    icon: 'git-compare',
    context: 'conflict',
    subject: one.sessionId,
    command: 'baton.resolveConflict',
  }))
  return [{ id: 'conflicts', label: 'Conflicts', description: String(children.length), icon: 'warning', open: true, children }]
}

function stateRow(known: Known, state: string, label: string, icon: string, now: number): Row[] {
  const here = known.sessions.filter((session) => session.state === state)
  if (here.length === 0) return []
  const children = here.map((session) => sessionRow(known, session, icon, now))
  const more = known.more ? ', more are not shown' : ''
  return [{ id: `state:${state}`, label, description: `${here.length}${more}`, open: state !== 'closed', children }]
}

function sessionRow(known: Known, session: Schemas['SessionSummary'], icon: string, now: number): Row {
  // The board tells who drives as soon as that changes.
  const drives = known.driven.find((one) => one.id === session.id)?.agent
  const driver = drives === undefined ? '' : `, ${drives} drives`
  return {
    id: `session:${session.id}`,
    label: session.name,
    description: `${age(session.updated_at, now)}${driver}`,
    icon,
    context: session.state === 'active' ? 'session.active' : session.state === 'closed' ? 'session.closed' : 'session.resting',
    subject: session.id,
  }
}

function peersRow(known: Known, now: number): Row {
  const children = (known.sync?.peers ?? []).map((one) => peerRow(one, now))
  const fingerprint = known.fingerprint ?? 'not known'
  const tooltip = `The fingerprint of this node, for those who register it:\n${fingerprint}`
  return { id: 'peers', label: 'Peers', description: String(children.length), tooltip, open: true, children }
}

/** What is said of a peer that has not confirmed this node, and what to type there. */
export function pendingThere(peer: Schemas['PeerView']): string | undefined {
  if (peer.confirmThere == null) return undefined
  const told = `this node is pending at ${peer.name}: nothing moves before somebody confirms it there`
  return `${told}\nthere, run: ${peer.confirmThere}`
}

function peerRow({ peer, items }: Schemas['PeerStanding'], now: number): Row {
  const differ = items == null || items.length === 0 ? '' : `, ${count(items.length, 'session')} to move`
  const stands =
    peer.state === 'pending'
      ? 'pending: confirm its fingerprint'
      : pendingThere(peer) !== undefined
        ? 'this node is pending there'
        : peer.hasKey
          ? `${peer.status}${differ}`
          : 'asks us only'
  const icons = { online: 'pass', offline: 'debug-disconnect', unknown: 'question' }
  return {
    id: `peer:${peer.nodeId}`,
    label: peer.name,
    description: `${stands}, moved ${age(peer.lastSync, now)}`,
    tooltip: [peer.url ?? 'has no address', peer.fingerprint, peer.reason ?? '', pendingThere(peer) ?? '']
      .filter((line) => line !== '')
      .join('\n'),
    icon: peer.state === 'pending' || pendingThere(peer) !== undefined ? 'unverified' : icons[peer.status],
    context: `peer.${peer.state}`,
    subject: peer.nodeId,
  }
}

function boardRow(board: Board, now: number): Row {
  const agents = board.agents.map((agent) => ({
    id: `agent:${agent.name}`,
    label: agent.name,
    description: `${agent.gone ? 'gone' : agent.status}${agent.task === undefined ? '' : `: ${agent.task}`}`,
    tooltip: `Seen ${age(agent.seen, now)}`,
    icon: agent.gone ? 'person' : 'account',
  }))
  const tasks = board.tasks.map((task) => ({
    id: `task:${task.id}`,
    label: task.description || task.id,
    description: `${task.status}${task.assigned === undefined ? '' : `, ${task.assigned}`}`,
    icon: task.status === 'completed' ? 'pass' : 'circle-outline',
  }))
  return { id: 'board', label: 'Board', description: board.sprint ?? '', open: true, children: [...agents, ...tasks] }
}

function tabsRow(known: Known): Row[] {
  if (known.tabs.length === 0) return []
  const children = known.tabs.map((tab) => ({
    id: `tab:${tab.token}`,
    label: tab.title || tab.url,
    description: `${tab.cocoon_name ?? tab.cocoon_id}${tab.offline ? ', offline' : ''}`,
    tooltip: tab.url,
    icon: 'browser',
    context: 'tab',
    subject: tab.token,
    command: 'baton.showTab',
  }))
  return [{ id: 'tabs', label: 'Debug Tabs', description: String(children.length), open: true, children }]
}
