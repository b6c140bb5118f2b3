// Which pages are a cocoon's: those of its origin, below its path.

import { COCOONS } from '../limits.ts'
import { type Cocoon, isRecord } from '../protocol.ts'

/** Whether the page belongs to the cocoon. */
export function isWithin(url: string | undefined, cocoon: Cocoon): boolean {
  const page = parse(url)
  if (page === undefined || page.origin !== cocoon.origin) return false
  return page.pathname.startsWith(cocoon.path) || `${page.pathname}/` === cocoon.path
}

/** The cocoon whose page it is: of several the one whose path says most. */
export function cocoonOf(url: string | undefined, cocoons: readonly Cocoon[]): Cocoon | undefined {
  const fitting = cocoons.filter((cocoon) => isWithin(url, cocoon))
  return fitting.reduce<Cocoon | undefined>((best, one) => {
    return best === undefined || one.path.length > best.path.length ? one : best
  }, undefined)
}

/** What a node says of its cocoons, without what makes no sense. */
export function readCocoons(list: unknown): Cocoon[] {
  if (!Array.isArray(list)) return []
  return list.slice(0, COCOONS).flatMap((one: unknown) => {
    if (!isRecord(one)) return []
    const { id, name, origin, path } = one
    if (typeof id !== 'string' || typeof origin !== 'string') return []
    const parsed = parse(origin)
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) return []
    const below = typeof path === 'string' && path.startsWith('/') ? path : '/'
    return [{ id, name: typeof name === 'string' ? name : id, origin: parsed.origin, path: below.endsWith('/') ? below : `${below}/` }]
  })
}

function parse(url: string | undefined): URL | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url) : undefined
}
