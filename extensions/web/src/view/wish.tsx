// A site wishes for something, and the person who drives allows or refuses it.

import type { Live } from '../live/line.ts'
import type { Schemas } from '../node/client.ts'
import { wish } from '../words/wishes.ts'

/** The question. What would be allowed is the browser's, not this page's. */
export function Wish({ live, tab, asked }: { live: Live; tab: number; asked: Schemas['LivePermission'] }) {
  const id = `wish-${tab}`
  const answer = (allow: boolean) => live.say({ type: 'permit', tab, question: asked.question, allow })
  return (
    <div class="question" role="alertdialog" aria-labelledby={id} aria-describedby={`${id}-what`}>
      <p class="asks" id={id}>
        {wish(asked)}
      </p>
      <p class="hint" id={`${id}-what`}>
        {live.driver.value.own
          ? 'It is about the browser in the picture, and kept for this site. Without an answer it is refused after a minute.'
          : 'The page waits until who drives answers.'}
      </p>
      {live.driver.value.own && (
        <p class="acts">
          <button type="button" onClick={() => answer(true)}>
            Allow
          </button>
          <button type="button" onClick={() => answer(false)}>
            Refuse
          </button>
        </p>
      )}
    </div>
  )
}
