// A new session: its name, where it begins, and whether its browser shows a window.

import { useState } from 'preact/hooks'
import { open } from '../acts.ts'
import { heard } from '../hub.ts'
import type { Failure } from '../node/failure.ts'
import { sessionAddress } from '../route.ts'
import { checkName } from '../words/sessions.ts'
import { Button, Dialog, Trouble } from './parts.tsx'

/** An address as a person types it; nothing where it is none. */
function address(text: string): string | undefined {
  const whole = /^[a-z]+:/i.test(text) ? text : `https://${text}`
  return URL.canParse(whole) ? whole : undefined
}

/** The window that asks for it. */
export function OpenDialog({ onClose }: { onClose: () => void }) {
  const [busy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<string | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    const name = String(form.get('name')).trim()
    const typed = String(form.get('url')).trim()
    const url = typed === '' ? undefined : address(typed)
    const bad =
      checkName(name) ?? (typed !== '' && url === undefined ? 'expected an address such as https://example.org' : undefined)
    setWrong(bad)
    if (bad !== undefined) return
    setBusy(true)
    setFailure(undefined)
    try {
      const headed = form.get('headed') !== null
      location.hash = sessionAddress(await open({ name, urls: url === undefined ? [] : [url], headed }))
      onClose()
    } catch (error) {
      setFailure(heard(error))
      setBusy(false)
    }
  }

  return (
    <Dialog title="New session" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <label for="name">Name</label>
        <input id="name" name="name" autocomplete="off" spellcheck={false} required aria-describedby="wrong" />
        <label for="url">Begins at</label>
        <input id="url" name="url" inputMode="url" autocomplete="off" spellcheck={false} placeholder="https://example.org" />
        <label class="check">
          <input type="checkbox" name="headed" /> Show its window on the node's machine
        </label>
        <p id="wrong" class="wrong" aria-live="polite">
          {wrong}
        </p>
        {failure !== undefined && <Trouble failure={failure} />}
        <div class="acts">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <Button type="submit" class="primary" off={busy}>
            {busy ? 'Opening …' : 'Open'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
