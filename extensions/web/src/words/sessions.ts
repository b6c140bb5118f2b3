// What is said of a session: where it stands, who has it, where it is signed in and for how long.

import { age, until } from '../../../shared/amounts.ts'
import type { Schemas } from '../node/client.ts'

export type State = Schemas['Lifecycle']

/** The states, in the order in which a person looks at them, with their word and what it means. */
export const STATES: readonly { state: State; word: string; means: string }[] = [
  { state: 'active', word: 'Active', means: 'a browser runs' },
  { state: 'recoverable', word: 'Recoverable', means: 'its browser is gone; a resume brings it back' },
  { state: 'stale', word: 'Stale', means: 'a resume brings back what was captured last, which is older' },
  { state: 'failed', word: 'Failed', means: 'its resumes failed; its snapshots are still here' },
  { state: 'closed', word: 'Closed', means: 'saved and put away' },
]

/** The word for a state. */
export const wordOf = (state: State): string => STATES.find((one) => one.state === state)?.word ?? state

/** Sessions by state, those that hold some, each in the order of the list. */
export function grouped<T extends { state: State }>(sessions: readonly T[]): { state: State; word: string; items: T[] }[] {
  const groups = STATES.map(({ state, word }) => ({ state, word, items: sessions.filter((one) => one.state === state) }))
  return groups.filter((group) => group.items.length > 0)
}

/** Sessions whose name or description has these letters. */
export function found<T extends { name: string; description: string }>(sessions: readonly T[], text: string): readonly T[] {
  const wanted = text.trim().toLocaleLowerCase()
  if (wanted === '') return sessions
  return sessions.filter((one) => `${one.name}\n${one.description}`.toLocaleLowerCase().includes(wanted))
}

/** How long ago a session was captured. */
export function captured({ snapshot }: Schemas['SessionView'], now: number): string {
  return snapshot == null ? 'not captured yet' : `captured ${age(snapshot.taken_at, now)}`
}

/** Who has a session now; nothing where that is nobody but this node. */
export function holder(view: Schemas['SessionView']): string | undefined {
  if (view.agent != null) return `driven by ${view.agent.agent}`
  if (view.sandbox != null) return `in the sandbox ${view.sandbox.slice(0, 8)}`
  const held = view.shared?.held_by
  return held == null || held.here ? undefined : `held by ${held.name ?? 'another node'}`
}

/** How a login stands, in a few words. */
export function lasts(login: Schemas['Login'], now: number): { words: string; tone: 'good' | 'soon' | 'over' } {
  if (login.likelihood === 'over') return { words: 'has ended', tone: 'over' }
  const next = login.forecast.next
  if (next == null) return { words: login.stored === true ? 'kept in storage' : 'no end of its own', tone: 'good' }
  const left = Date.parse(next) - now
  const soon = left < 86_400_000 && login.stored !== true
  return { words: left <= 0 ? 'a cookie has ended' : `first cookie ends ${until(next, now)}`, tone: soon ? 'soon' : 'good' }
}

/** Why a snapshot was taken. */
export function reasonOf(reason: Schemas['SnapshotReason']): string {
  const words: Record<Schemas['SnapshotReason'], string> = {
    open: 'opened',
    navigation: 'after a navigation',
    input: 'after input',
    interval: 'something changed',
    request: 'on request',
    close: 'at its close',
    shutdown: 'before a shutdown',
    rollback: 'before a rollback',
    import: 'from a file',
    sync: 'from another node',
    sandbox: 'from a sandbox',
  }
  return words[reason] ?? reason
}

/** The kind of an item of a receipt. */
export const kindOf = (kind: Schemas['ItemKind']): string => kind.replaceAll('_', ' ')

/** What became of an item. */
export function outcomeOf(outcome: Schemas['Outcome']): string {
  return { restored: 'Restored', rejected: 'Refused', not_portable: 'Not portable', pending: 'Pending' }[outcome] ?? outcome
}

/** What is wrong with a session's name. */
export function checkName(name: string): string | undefined {
  return /^[\p{L}\p{N}._-]{1,64}$/u.test(name.trim()) ? undefined : 'expected 1 to 64 letters, digits, "-", "_" or "."'
}
