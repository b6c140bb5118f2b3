// The history of a session as a strip of pictures, newest first: what was captured, why, what changed from one to
// another, and the way back to it.

import { useRef, useState } from 'preact/hooks'
import { age, size } from '../../../shared/amounts.ts'
import { doing, rollBack } from '../acts.ts'
import { histories } from '../asked.ts'
import { may, now, writes } from '../hub.ts'
import type { Schemas } from '../node/client.ts'
import { count } from '../words/amounts.ts'
import { reasonOf } from '../words/sessions.ts'
import { Comparison } from './compare.tsx'
import { Button, Dialog, Picture, Trouble } from './parts.tsx'
import { Windowed } from './windowed.tsx'

type Snapshot = Schemas['SnapshotView']

/** How wide a picture is, with what is around it. */
const WIDTH = 216

/** The strip, and the snapshot that is chosen in it. */
export function Strip({ session }: { session: Schemas['SessionView'] }) {
  const { id } = session
  const asked = histories.use(id, () => writes.stamp(id)).value
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  // Whole, for one that is gone from the history meanwhile can still be named.
  const [other, setOther] = useState<{ of: Snapshot; with: Snapshot } | undefined>(undefined)
  const [picks, setPicks] = useState(false)
  const [asks, setAsks] = useState(false)
  const compare = useRef<HTMLButtonElement>(null)
  const history = asked.value
  if (history === undefined) return asked.failure === undefined ? null : <Trouble failure={asked.failure} />
  const { items } = history
  if (items.length === 0) return <p class="nothing">Nothing was captured yet.</p>
  const snapshot = items.find((one) => one.id === chosen)
  const wide = <Windowed sideways items={items} keyOf={(one) => one.id} row={row} size={WIDTH} label="Snapshots, newest first" />
  const choose = (one: Snapshot) => {
    const isOther = one.id !== chosen
    if (picks && isOther && snapshot !== undefined) setOther({ of: snapshot, with: one })
    else if (!picks) {
      setChosen(isOther ? one.id : undefined)
      setOther(undefined)
    }
    setPicks(false)
  }
  function row(one: Snapshot) {
    return (
      <button
        type="button"
        class="shot"
        aria-pressed={one.id === chosen || one.id === other?.with.id}
        onClick={() => choose(one)}
      >
        <Picture id={id} snapshot={one.id} alt={`Captured ${age(one.taken_at, now.value)}`} />
        <span class="when">{age(one.taken_at, now.value)}</span>
        <span class="why">{reasonOf(one.reason)}</span>
        <Marks snapshot={one} resumes={history?.resumes_from === one.id} />
      </button>
    )
  }
  const damaged = history.damaged?.length ?? 0
  return (
    <>
      <div class="strip">{wide}</div>
      {damaged > 0 && <p class="wrong">{count(damaged, 'snapshot')} cannot be read any more.</p>}
      {snapshot !== undefined && (
        <div class="chosen">
          <p>
            Captured {new Date(snapshot.taken_at).toLocaleString()}, {reasonOf(snapshot.reason)}: {count(snapshot.parts, 'part')},{' '}
            {size(snapshot.bytes)}.
          </p>
          <div class="acts">
            {items.length > 1 && (
              <button type="button" ref={compare} aria-pressed={picks} onClick={() => setPicks(!picks)}>
                Compare with …
              </button>
            )}
            {may('drive') && (
              <Button off={doing.value.has(id)} onClick={() => setAsks(true)}>
                Roll back to this
              </Button>
            )}
          </div>
        </div>
      )}
      <p class="hint" role="status">
        {picks && snapshot !== undefined && 'Choose the picture to compare it with, above.'}
      </p>
      {other !== undefined && (
        <Comparison
          id={id}
          {...inOrder(other.of, other.with)}
          gone={[other.of, other.with].filter((one) => !items.some(({ id }) => id === one.id))}
          onClose={() => {
            setOther(undefined)
            compare.current?.focus()
          }}
        />
      )}
      {asks && snapshot !== undefined && (
        <Dialog title={`Roll ${session.name} back?`} onClose={() => setAsks(false)}>
          <p>
            {session.state === 'active' ? 'It is captured first, and its browser ends. Then it' : 'It'} comes back as it was{' '}
            {age(snapshot.taken_at, now.value)}. Nothing of its history is lost.
          </p>
          <div class="acts">
            <button type="button" onClick={() => setAsks(false)}>
              Cancel
            </button>
            <button
              type="button"
              class="primary"
              onClick={() => {
                setAsks(false)
                void rollBack(session, snapshot.id)
              }}
            >
              Roll back
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

/** Two snapshots, the older one first. */
const inOrder = (one: Snapshot, two: Snapshot) =>
  Date.parse(one.taken_at) <= Date.parse(two.taken_at) ? { before: one, after: two } : { before: two, after: one }

/** What is special about a snapshot. */
function Marks({ snapshot, resumes }: { snapshot: Snapshot; resumes: boolean }) {
  return (
    <span class="marks">
      {resumes && <span class="mark main">resumes from here</span>}
      {snapshot.saved === true && <span class="mark">kept</span>}
      {snapshot.shrunk === true && <span class="mark bad">shrunk</span>}
      {snapshot.sibling === true && <span class="mark">beside the line</span>}
    </span>
  )
}
