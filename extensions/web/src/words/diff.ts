// What changed between two snapshots, by site and kind: counts and names, never a value.

import type { Schemas } from '../node/client.ts'
import { count } from './amounts.ts'

type Item = Schemas['DiffItem']

/** What changed of one kind at one site, by name. */
export interface SiteChange {
  /** The registrable site; empty for what belongs to none, such as settings. */
  site: string
  kind: Schemas['ItemKind']
  added: string[]
  changed: string[]
  removed: string[]
}

/** What tells an item from others of its kind at its site, and what of it changed. */
export function nameOf({ kind, where, entry, change, fields = [], records }: Item): string {
  const [, behind] = /^\S+ (.*)$/s.exec(where) ?? []
  const name = kind === 'environment' || kind === 'tab' ? where : (entry ?? behind ?? where)
  const own = kind === 'permission' ? (where.split(' ')[0] ?? where) : name
  const notes = [...(change === 'changed' ? fields : []), ...(records == null ? [] : [amounts(records, kind)])]
  return notes.length === 0 ? own : `${own} (${notes.join(', ')})`
}

function amounts({ before, after }: Schemas['Records'], kind: Item['kind']): string {
  const number = kind === 'cache' ? count(after, 'entry', 'entries') : count(after, 'record')
  return `${number}, before ${before.toLocaleString('en')}`
}

/** The same by site and kind: sites by name, and what belongs to none last. */
export function bySite(items: readonly Item[]): SiteChange[] {
  const found = new Map<string, SiteChange>()
  for (const item of items) {
    const { kind, site, change } = item
    const key = `${site ?? ''} ${kind}`
    const group = found.get(key) ?? { site: site ?? '', kind, added: [], changed: [], removed: [] }
    group[change].push(nameOf(item))
    found.set(key, group)
  }
  const place = ({ site }: SiteChange) => (site === '' ? 1 : 0)
  return [...found.values()].sort((one, other) => place(one) - place(other) || one.site.localeCompare(other.site, 'en'))
}

/** Those whose site, kind or names have these letters. */
export function changesWith(changes: readonly SiteChange[], text: string): readonly SiteChange[] {
  const wanted = text.trim().toLocaleLowerCase()
  if (wanted === '') return changes
  const words = ({ site, kind, added, changed, removed }: SiteChange) => [
    site,
    kind.replaceAll('_', ' '),
    ...added,
    ...changed,
    ...removed,
  ]
  return changes.filter((one) => words(one).some((word) => word.toLocaleLowerCase().includes(wanted)))
}
