// Before anybody is signed in: how that is done, and why it is not so any more.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { enter, goToProvider } from '../hub.ts'
import { ways } from '../node/client.ts'
import type { Failure } from '../node/failure.ts'
import { Button, Trouble } from './parts.tsx'

const busy = signal(false)
/** What the provider is called at which people sign in; none where there is none, or before the node said so. */
const provider = signal<string | undefined>(undefined)

async function askForWays(): Promise<void> {
  try {
    provider.value = (await ways()).oidc?.name
  } catch {
    // A node that does not answer this answers no key either, and says so then.
    provider.value = undefined
  }
}

async function leaveForProvider(): Promise<void> {
  if (busy.value) return
  busy.value = true
  try {
    // The page stays busy until it is gone.
    await goToProvider()
  } catch {
    busy.value = false
  }
}

/** A person who goes back in the history finds the page as it was left. */
function comeBack(): void {
  busy.value = false
}

async function submit(event: SubmitEvent): Promise<void> {
  event.preventDefault()
  const form = event.target as HTMLFormElement
  const key = String(new FormData(form).get('key') ?? '').trim()
  if (key === '' || busy.value) return
  busy.value = true
  form.reset()
  await enter(key)
  busy.value = false
}

/** The view. */
export function SignIn({ why }: { why: Failure | undefined }) {
  useEffect(() => {
    void askForWays()
    addEventListener('pageshow', comeBack)
    return () => removeEventListener('pageshow', comeBack)
  }, [])
  return (
    <main class="sign-in">
      <img src="/page/icon.svg" alt="" width="56" height="56" />
      <h1 tabIndex={-1}>Sign in to Baton</h1>
      {why !== undefined && <Trouble failure={why} />}
      {provider.value !== undefined && (
        <Button class="primary provider" off={busy.value} onClick={() => void leaveForProvider()}>
          Sign in with {provider.value}
        </Button>
      )}
      <p>On the node's machine, this opens the page signed in:</p>
      <pre>
        <code>baton dashboard</code>
      </pre>
      <form onSubmit={(event) => void submit(event)}>
        <label for="key">Or paste an API key</label>
        <div class="field">
          <input id="key" name="key" type="password" autocomplete="off" spellcheck={false} placeholder="baton_…" required />
          <Button type="submit" class="primary" off={busy.value}>
            Sign in
          </Button>
        </div>
        <p class="hint">
          The key is sent to this node once, and not kept by the browser. <code>baton keys create</code> makes one that may do
          less.
        </p>
      </form>
    </main>
  )
}
