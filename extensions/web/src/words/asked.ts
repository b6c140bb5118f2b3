// What a guest is told about time and about the end.

import type { Schemas } from '../node/client.ts'

/** How long it is until then. */
export function minutesLeft(until: string, now: number): string {
  const minutes = Math.ceil((Date.parse(until) - now) / 60_000)
  if (minutes <= 0) return 'its time has passed'
  return minutes === 1 ? 'in a minute' : `in ${minutes} minutes`
}

/** What is said once it is over. */
export function over(state: Schemas['AskState']): { title: string; words: string } {
  if (state === 'done') return { title: 'Thank you', words: 'The browser is given back, and who asked goes on.' }
  if (state === 'declined') return { title: 'Thank you', words: 'Who asked is told that you cannot do it.' }
  const words = {
    timed_out: 'Its time has passed. The browser is given back.',
    withdrawn: 'Who asked has taken it back.',
    lost: 'The browser is gone. Who asked can ask again.',
    waiting: 'It has not begun.',
    opened: 'It goes on.',
  }[state]
  return { title: 'It is over', words }
}
