// Numbers and revisions, as people say them.

/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** A revision, short enough to be read. */
export function shortRev(rev: string): string {
  const [version, hash] = rev.split('-', 2)
  return hash === undefined ? rev : `${version}-${hash.slice(0, 8)}`
}
