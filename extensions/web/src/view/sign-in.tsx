// Before anybody is signed in: how that is done, and why it is not so any more.

import { signal } from '@preact/signals'
import { enter } from '../hub.ts'
import type { Failure } from '../node/failure.ts'
import { Trouble } from './parts.tsx'

const busy = signal(false)

async function submit(event: SubmitEvent): Promise<void> {
  event.preventDefault()
  const form = event.target as HTMLFormElement
  const key = String(new FormData(form).get('key') ?? '').trim()
  if (key === '' || busy.value) return
  busy.value = true
  form.reset()
  await enter({ key })
  busy.value = false
}

/** The view. */
export function SignIn({ why }: { why: Failure | undefined }) {
  return (
    <main class="sign-in">
      <img src="/page/icon.svg" alt="" width="56" height="56" />
      <h1 tabIndex={-1}>Sign in to Baton</h1>
      {why !== undefined && <Trouble failure={why} />}
      <p>On the node's machine, this opens the page signed in:</p>
      <pre>
        <code>baton dashboard</code>
      </pre>
      <form onSubmit={(event) => void submit(event)}>
        <label for="key">Or paste an API key</label>
        <div class="field">
          <input id="key" name="key" type="password" autocomplete="off" spellcheck={false} placeholder="baton_…" required />
          <button type="submit" class="primary" disabled={busy.value}>
            Sign in
          </button>
        </div>
        <p class="hint">
          The key is sent to this node once, and not kept by the browser. <code>baton keys create</code> makes one that may do
          less.
        </p>
      </form>
    </main>
  )
}
