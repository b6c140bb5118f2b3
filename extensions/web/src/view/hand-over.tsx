// A session handed over: who drives it now, who from now on, and why.

import { useRef, useState } from 'preact/hooks'
import { doing, formerDrivers, handOver, outcomes } from '../acts.ts'
import { views } from '../asked.ts'
import { acting, type Schemas } from '../node/client.ts'
import { type Driving, drivesNow, passing, suggested, takenFrom, whyAsked } from '../words/drivers.ts'
import { Button, Dialog, Trouble } from './parts.tsx'

/** The longest reason that the node takes, in characters. */
const LONGEST_REASON = 1_000

/** Who drives a session, and whether that is who looks at this page. */
function drivingOf(view: Schemas['SessionView']): Driving {
  const agent = view.agent?.agent
  return { agent, own: agent !== undefined && acting.names.get(view.id) === agent }
}

/** The window that asks for it. */
export function HandOverDialog({ view, onClose }: { view: Schemas['SessionView']; onClose: () => void }) {
  const form = useRef<HTMLFormElement>(null)
  const [released, setReleased] = useState(false)
  const [wrong, setWrong] = useState<{ wrong: string; field: 'to' | 'reason' } | undefined>(undefined)
  const driving = drivingOf(view)
  // Who drives may let go meanwhile: then there is nothing to release.
  const nobody = released && driving.agent !== undefined
  const [names] = useState(() => suggested([...formerDrivers, ...views.known().map((one) => one.agent?.agent)], driving))
  const busy = doing.value.has(view.id)
  const outcome = outcomes.value.get(view.id)
  // What came of something else, before the window was there, is said in the page.
  const [before] = useState(outcome)

  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (busy || form.current === null) return
    const typed = new FormData(form.current)
    const text = (name: string) => String(typed.get(name) ?? '')
    const asked = passing({ to: text('to'), nobody, reason: text('reason') }, driving)
    setWrong('wrong' in asked ? asked : undefined)
    if ('wrong' in asked) form.current.querySelector<HTMLInputElement>(`[name=${asked.field}]`)?.focus()
    else {
      await handOver(view, asked.body, takenFrom(driving))
      if (outcomes.value.get(view.id)?.is === 'done') onClose()
    }
  }

  const bad = (field: 'to' | 'reason') => wrong?.field === field
  return (
    <Dialog title={`Hand ${view.name} over`} onClose={onClose}>
      <form ref={form} onSubmit={(event) => void submit(event)}>
        <p id="drives" role="status">
          {drivesNow(driving)}
        </p>
        <label for="to">To the agent</label>
        <input
          id="to"
          name="to"
          list="agents"
          autocapitalize="off"
          autocomplete="off"
          spellcheck={false}
          required
          disabled={nobody}
          aria-invalid={bad('to')}
          aria-describedby="drives wrong"
        />
        <datalist id="agents">
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {driving.agent !== undefined && (
          <label class="check">
            <input type="checkbox" checked={nobody} onChange={(event) => setReleased(event.currentTarget.checked)} /> To nobody:
            the next agent that asks gets it
          </label>
        )}
        <label for="reason">Why</label>
        <input
          id="reason"
          name="reason"
          autocomplete="off"
          maxLength={LONGEST_REASON}
          required={takenFrom(driving) !== undefined}
          aria-invalid={bad('reason')}
          aria-describedby="asked wrong"
        />
        <p id="asked" class="hint">
          {whyAsked(driving)}
        </p>
        <p id="wrong" class="wrong" aria-live="polite">
          {wrong?.wrong}
        </p>
        {outcome?.is === 'failed' && outcome !== before && <Trouble failure={outcome.failure} />}
        <div class="acts">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <Button type="submit" class="primary" off={busy}>
            {busy ? 'Handing over …' : 'Hand over'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
