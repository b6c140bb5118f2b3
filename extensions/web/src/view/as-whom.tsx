// Somebody else came than who is signed in here, or was: whether it is them is asked, for an address can be sent to anybody.

import { settle } from '../hub.ts'
import type { Schemas } from '../node/client.ts'

/** The question. Nothing is replaced before it is answered. */
export function AsWhom({ came, before }: { came: Schemas['PageSession']; before: string | undefined }) {
  return (
    <main class="sign-in">
      <img src="/page/icon.svg" alt="" width="56" height="56" />
      <h1 tabIndex={-1}>Sign in as {came.owner}?</h1>
      <p>
        The address that was opened signs in as {came.owner}, by the key {came.key}.{' '}
        {before === undefined ? 'Somebody is signed in here already.' : `Here it was ${before} until now.`}
      </p>
      <p>
        What you open, type or drop here belongs to {came.owner} then. Go on only if you asked for this address yourself, and not
        if somebody sent it to you.
      </p>
      <div class="acts">
        <button type="button" class="primary" onClick={() => void settle(came, false)}>
          Cancel
        </button>
        <button type="button" onClick={() => void settle(came, true)}>
          Sign in as {came.owner}
        </button>
      </div>
    </main>
  )
}
