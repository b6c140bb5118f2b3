// The two sides of a conflict as texts that can be compared line by line: counts and names, never a value.

import { age, size } from '../../../shared/amounts.ts'
import type { Schemas } from '../node/node.ts'
import { shortRev } from '../words/amounts.ts'

/** Names a node. */
export type Namer = (nodeId: string) => string

/** The revision that counts, and one that is kept beside it. */
export interface Pages {
  current: string
  sibling: string
}

/** Writes both sides. */
export function pages(details: Schemas['ConflictDetails'], rev: string, name: Namer, now: number): Pages {
  const sibling = details.siblings.find((one) => one.rev === rev) ?? details.current
  const difference = details.differences.find((one) => one.rev === rev)
  const head = (revision: Schemas['RevisionView'], stands: string) => [
    `${details.name}: ${shortRev(revision.rev)} ${stands}`,
    `written by ${name(revision.nodeId)}, ${age(revision.lastModified, now)}, ${revision.deleted ? 'deletes the session' : size(revision.size)}`,
    '',
  ]
  const body = (side: 'current' | 'sibling') => {
    if (difference?.unreadable != null) return [`The two cannot be compared: ${difference.unreadable}`]
    const sites = difference?.sites ?? []
    return sites.length === 0 ? ['No site differs.'] : sites.flatMap((site) => lines(site, side))
  }
  return {
    current: [...head(details.current, 'counts now'), ...body('current'), ''].join('\n'),
    sibling: [...head(sibling, 'is kept beside it'), ...body('sibling'), ''].join('\n'),
  }
}

function lines(site: Schemas['SiteDiff'], side: 'current' | 'sibling'): string[] {
  const alone = side === 'current' ? site.removed : site.added
  const hidden = side === 'current' ? 'one value, hidden' : 'another value, hidden'
  return [
    `${site.site ?? 'no site'}: ${site.kind.replaceAll('_', ' ')} (${site.names.join(', ')})`,
    ...(site.added + site.removed > 0 ? [`  only in this revision: ${alone}`] : []),
    ...(site.changed > 0 ? [`  in both, not the same: ${site.changed} (${hidden})`] : []),
  ]
}
