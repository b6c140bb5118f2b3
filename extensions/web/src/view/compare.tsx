// Two snapshots of a session beside each other: what both showed, and what changed between them, never a value.

import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { age } from '../../../shared/amounts.ts'
import { diffs } from '../asked.ts'
import { now } from '../hub.ts'
import type { Schemas } from '../node/client.ts'
import { count } from '../words/amounts.ts'
import { bySite, changesWith, type SiteChange } from '../words/diff.ts'
import { kindOf, reasonOf } from '../words/sessions.ts'
import { Picture, Trouble } from './parts.tsx'
import { Windowed } from './windowed.tsx'

type Snapshot = Schemas['SnapshotView']

/** How high a row is. */
const ROW = 60
/** From how many rows on a person may look for some. */
const MANY = 8

interface Props {
  id: string
  /** The older one. */
  before: Snapshot
  after: Snapshot
  /** Those of the two that the history no longer has. */
  gone: readonly Snapshot[]
  onClose: () => void
}

/** The comparison. */
export function Comparison({ id, before, after, gone, onClose }: Props) {
  const tries = useSignal(0)
  const asked = diffs.use(`${id}/${before.id}/${after.id}`, () => String(tries.value)).value
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    title.current?.focus({ preventScroll: true })
    title.current?.closest('section')?.scrollIntoView({ block: 'start' })
  }, [before.id, after.id])
  const side = (snapshot: Snapshot, word: string) => (
    <figure>
      <figcaption>
        <b>{word}</b> <span>{age(snapshot.taken_at, now.value)}</span>
        <span class="line">
          {new Date(snapshot.taken_at).toLocaleString()}, {reasonOf(snapshot.reason)}
        </span>
      </figcaption>
      <Picture id={id} snapshot={snapshot.id} alt={`${word}, captured ${age(snapshot.taken_at, now.value)}`} />
    </figure>
  )
  return (
    <section class="compare" aria-labelledby="compare" aria-busy={asked.busy}>
      <header>
        <h3 id="compare" ref={title} tabIndex={-1}>
          What changed between the two
        </h3>
        <button type="button" class="quiet" onClick={onClose}>
          End the comparison
        </button>
      </header>
      <div class="pair">
        {side(before, 'Before')}
        {side(after, 'After')}
      </div>
      {gone.map((one) => (
        <p key={one.id} class="wrong" role="status">
          The snapshot of {new Date(one.taken_at).toLocaleString()} is gone from the history: the node keeps it no longer.
        </p>
      ))}
      {asked.failure !== undefined && (
        <Trouble failure={asked.failure}>
          <button type="button" onClick={() => (tries.value += 1)}>
            Ask again
          </button>
        </Trouble>
      )}
      {asked.value === undefined && asked.failure === undefined && <p class="nothing">Both are read and compared.</p>}
      {asked.value !== undefined && <Changes diff={asked.value} />}
    </section>
  )
}

function Changes({ diff }: { diff: Schemas['DiffView'] }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const unreadable = diff.unreadable ?? []
  const all = useMemo(() => bySite(diff.items), [diff])
  const shown = useMemo(() => changesWith(all, text), [all, text])
  const one = shown.find((change) => keyOf(change) === chosen)
  const sites = new Set(all.map(({ site }) => site).filter((site) => site !== '')).size
  const number = (amount: number, word: string, tone: string) => (
    <li class={amount > 0 ? tone : ''}>
      <b>{amount.toLocaleString('en')}</b> {word}
    </li>
  )
  return (
    <>
      {unreadable.length > 0 && (
        <details class="wrong">
          <summary>{count(unreadable.length, 'part')} of the two cannot be read, and count as not there.</summary>
          <ul>
            {unreadable.map((why) => (
              <li key={why}>{why}</li>
            ))}
          </ul>
        </details>
      )}
      {all.length === 0 ? (
        <p class="nothing">Nothing changed: both hold the same. What a page draws may differ all the same.</p>
      ) : (
        <>
          <ul class="sums" aria-label="How much changed">
            {number(diff.added, 'new', 'good')}
            {number(diff.changed, 'changed', 'soon')}
            {number(diff.removed, 'gone', 'bad')}
            {sites > 0 && <li>at {count(sites, 'site')}</li>}
          </ul>
          {all.length >= MANY && (
            <input
              type="search"
              placeholder="Find a site, a kind or a name"
              aria-label="Find among what changed"
              spellcheck={false}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
          {shown.length === 0 ? (
            <p class="nothing">Nothing that changed is called so.</p>
          ) : (
            <div class="scrolls">
              <Windowed
                items={shown}
                keyOf={keyOf}
                size={ROW}
                label="What changed, by site and kind"
                row={(change) => (
                  <Row
                    change={change}
                    isChosen={change === one}
                    choose={() => setChosen(change === one ? undefined : keyOf(change))}
                  />
                )}
              />
            </div>
          )}
          {one !== undefined && <Names change={one} />}
        </>
      )}
    </>
  )
}

const keyOf = ({ site, kind }: SiteChange) => `${site} ${kind}`
const siteOf = ({ site }: SiteChange) => site || 'The browser itself'

/** The ways in which something changes, in the order in which they are told. */
const WAYS = [
  ['added', 'new'],
  ['changed', 'changed'],
  ['removed', 'gone'],
] as const

function Row({ change, isChosen, choose }: { change: SiteChange; isChosen: boolean; choose: () => void }) {
  const ways = WAYS.filter(([way]) => change[way].length > 0)
  const names = ways.flatMap(([way]) => change[way]).slice(0, 5)
  return (
    <button type="button" class="change" aria-pressed={isChosen} onClick={choose}>
      <span class="place">{siteOf(change)}</span>
      <span class="kind">{kindOf(change.kind)}</span>
      <span class="ways">
        {ways.map(([way, word]) => (
          <span key={way} class={way}>
            {change[way].length.toLocaleString('en')} {word}
          </span>
        ))}
      </span>
      <span class="why">{names.join(', ')}</span>
    </button>
  )
}

/** How many names of each are written out. */
const NAMES_MOST = 200

/** The names of what changed of one kind at one site. */
function Names({ change }: { change: SiteChange }) {
  return (
    <div class="names" role="status">
      <p>
        <b>{siteOf(change)}</b>, {kindOf(change.kind)}
      </p>
      <dl>
        {WAYS.filter(([way]) => change[way].length > 0).map(([way, word]) => (
          <div key={way}>
            <dt class={way}>{word}</dt>
            <dd>
              {change[way].slice(0, NAMES_MOST).join(', ')}
              {change[way].length > NAMES_MOST && ` and ${(change[way].length - NAMES_MOST).toLocaleString('en')} more`}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
