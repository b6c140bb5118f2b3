// Room in what is bounded: the oldest goes, never everything.

/** A `Map` or a `Set`, whose keys come in the order in which they were put there. */
interface Kept<K> {
  readonly size: number
  keys(): IterableIterator<K>
  delete(key: K): boolean
}

/**
 * Makes room for one more: where there is none, a tenth of it goes, the oldest first, so that there is room
 * for others too. `goes` hears of each before it does.
 */
export function makeRoom<K>(kept: Kept<K>, most: number, goes?: (key: K) => void): void {
  if (kept.size < most) return
  let left = Math.max(1, Math.ceil(most / 10))
  for (const key of kept.keys()) {
    if (left === 0) return
    left -= 1
    goes?.(key)
    kept.delete(key)
  }
}
