// Sandboxes: what each has of which session and until when, and the display of one.

import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { age, until } from '../../../shared/amounts.ts'
import { notice } from '../acts.ts'
import { heard, node, now, sandboxChanges } from '../hub.ts'
import { ask, type Schemas } from '../node/client.ts'
import type { Failure } from '../node/failure.ts'
import { sandboxAddress, sessionAddress } from '../route.ts'
import { Button, Trouble } from './parts.tsx'
import { DisplayView } from './sandbox-display.tsx'
import { Windowed } from './windowed.tsx'

type Sandbox = Schemas['SandboxView']

/** How high a row is, in pixels; on a narrow screen what it says is below each other. */
const ROW = 72
const NARROW_ROW = 148
const NARROW = matchMedia('(max-width: 640px)')

const known = signal<readonly Sandbox[] | undefined>(undefined)
const failure = signal<Failure | undefined>(undefined)
/** Which are being ended. */
const ending = signal<ReadonlySet<string>>(new Set())

/** Forgets what is known of them. */
export function forgetSandboxes(): void {
  known.value = undefined
  failure.value = undefined
}

async function list(abort: AbortSignal): Promise<void> {
  try {
    const { items } = await ask(node().api.GET('/api/sandboxes', { signal: abort }))
    known.value = items
    failure.value = undefined
  } catch (error) {
    if (!abort.aborted) failure.value = heard(error)
  }
}

async function end(sandbox: Sandbox): Promise<void> {
  const { id } = sandbox
  if (ending.value.has(id)) return
  ending.value = new Set([...ending.value, id])
  try {
    const ended = await ask(node().patient.DELETE('/api/sandboxes/{id}', { params: { path: { id } } }))
    const session = ended.browserSession == null ? '' : '; what it held of its session is written back'
    notice.value = { words: `${name(sandbox)}: ended${session}`, failed: false }
  } catch (error) {
    notice.value = { words: `${name(sandbox)}: ${heard(error).message}`, failed: true }
  }
  ending.value = new Set([...ending.value].filter((one) => one !== id))
}

/** What people know a sandbox by: its session, and the end of its id. */
const name = (sandbox: Sandbox): string => `${sandbox.browserSession?.name ?? sandbox.flavor} ${sandbox.id.slice(-6)}`

/** The view. */
export function Sandboxes({ id }: { id: string | undefined }) {
  const changes = sandboxChanges.value
  useEffect(() => {
    const abort = new AbortController()
    void list(abort.signal)
    return () => abort.abort()
  }, [changes])
  const isNarrow = useNarrow()
  const all = known.value
  if (all === undefined && failure.value === undefined) return <main aria-busy="true" />
  const chosen = all?.find((one) => one.id === id)
  if (id !== undefined) {
    return (
      <main class="sandboxes">
        <p class="back">
          <a href={sandboxAddress()}>All sandboxes</a>
        </p>
        <h1 tabIndex={-1}>{chosen === undefined ? 'Sandbox' : name(chosen)}</h1>
        {chosen === undefined ? <p class="nothing">This sandbox has ended.</p> : <Facts sandbox={chosen} />}
        {chosen?.vnc != null && <DisplayView key={chosen.id} id={chosen.id} name={name(chosen)} />}
        {chosen !== undefined && chosen.vnc == null && (
          <p class="nothing">
            It was made without a display. <code>baton sandbox create --vnc</code> makes one with a display.
          </p>
        )}
      </main>
    )
  }
  return (
    <main class="sandboxes">
      <h1 tabIndex={-1}>Sandboxes</h1>
      {failure.value !== undefined && <Trouble failure={failure.value} />}
      {all?.length === 0 && (
        <div class="empty">
          <h2>No sandbox at this node</h2>
          <p>A sandbox is a place where an agent works, with a session handed in. It appears here as soon as it is made.</p>
          <pre>
            <code>baton sandbox create --session shop --vnc</code>
          </pre>
        </div>
      )}
      {all !== undefined && all.length > 0 && (
        <Windowed
          items={all}
          keyOf={(one) => one.id}
          row={(one) => <Row sandbox={one} />}
          size={isNarrow ? NARROW_ROW : ROW}
          label="Sandboxes"
        />
      )}
    </main>
  )
}

function Row({ sandbox }: { sandbox: Sandbox }) {
  const label = name(sandbox)
  const isEnding = ending.value.has(sandbox.id)
  return (
    <div class="sandbox">
      <div>
        <a href={sandboxAddress(sandbox.id)}>{label}</a>
        <Facts sandbox={sandbox} />
      </div>
      <div class="acts">
        {sandbox.vnc != null && (
          <a class="button" href={sandboxAddress(sandbox.id)} aria-label={`Display of ${label}`}>
            Display
          </a>
        )}
        <Button off={isEnding} aria-label={`End ${label}`} onClick={() => void end(sandbox)}>
          {isEnding ? 'Ending …' : 'End'}
        </Button>
      </div>
    </div>
  )
}

/** What there is to say of one. */
function Facts({ sandbox }: { sandbox: Sandbox }) {
  const { browserSession: session, createdAt, expiresAt, flavor, owner } = sandbox
  return (
    <p class="hint has">
      {session?.sessionId != null ? (
        <>
          has <a href={sessionAddress(session.sessionId)}>{session.name ?? 'a session'}</a>
          {session.writesBack ? ', and writes back; ' : ', a copy of it; '}
        </>
      ) : (
        'without a session; '
      )}
      {flavor}, of {owner}, made {age(createdAt, now.value)}, ends {until(expiresAt, now.value)}
    </p>
  )
}

function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(NARROW.matches)
  useEffect(() => {
    const look = () => setNarrow(NARROW.matches)
    NARROW.addEventListener('change', look)
    return () => NARROW.removeEventListener('change', look)
  }, [])
  return isNarrow
}
