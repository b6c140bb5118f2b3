// What is said of a live picture: that it comes, and what became of the pictures that did not.

import type { Schemas } from '../node/client.ts'
import { count } from './amounts.ts'

/** How it stands with the picture; `bad` pictures were none, or could not be drawn. */
export function pictured(is: 'coming' | 'shown' | 'gone', pace: Schemas['LivePace'] | undefined, bad: number): string {
  const unread = bad === 0 ? '' : `${count(bad, 'picture')} could not be read`
  if (is === 'shown') {
    const came = pace === undefined ? '' : `${count(pace.sent, 'picture')}, ${pace.dropped} left out`
    return [came, unread].filter((words) => words !== '').join('; ')
  }
  const words = {
    coming: 'The picture is coming. A tab that is not in front shows none.',
    gone: 'There is no browser any more. The picture comes back with the next one.',
  }[is]
  return unread === '' ? words : `${words} ${unread}.`
}
