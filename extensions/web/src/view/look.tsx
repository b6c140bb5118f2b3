// Network and console of a session's tabs: who may look, which tab, and both lists of it with what was chosen beside.

import { useState } from 'preact/hooks'
import { getArchive, record } from '../acts.ts'
import { may } from '../hub.ts'
import type { Look, Standing } from '../look/look.ts'
import { useLook } from '../look/use.ts'
import type { Schemas } from '../node/client.ts'
import { Console } from './console.tsx'
import { Network } from './network.tsx'
import { Button, sentence } from './parts.tsx'

type View = Schemas['SessionView']

/** What is shown of a session whose tabs may be looked into, and else why not. */
export function LookView({ view }: { view: View }) {
  const [looks, setLooks] = useState(false)
  return (
    <section class="look" aria-labelledby="look">
      <h2 id="look">Network and console</h2>
      {looks && may('debug') ? (
        <Looked view={view} onClose={() => setLooks(false)} />
      ) : (
        <Ahead view={view} onLook={() => setLooks(true)} />
      )}
    </section>
  )
}

/** Before one looks: what is needed for it. */
function Ahead({ view, onLook }: { view: View; onLook: () => void }) {
  const [busy, setBusy] = useState(false)
  if (!may('debug'))
    return (
      <p class="hint">
        Looking in wants the scope <code>debug</code>, which the key of this page has not got.{' '}
        <code>baton keys create --name look --scope read --scope debug</code> makes one that has.
      </p>
    )
  if (view.debug !== true)
    return (
      <p class="acts">
        {may('drive') && (
          <Button
            off={busy}
            onClick={() => {
              setBusy(true)
              void record(view).then(() => setBusy(false))
            }}
          >
            Record from now on
          </Button>
        )}
        <span class="hint">
          What its tabs do is not recorded. {!may('drive') && <code>baton debug on {view.name}</code>}
          {may('drive') ? 'What they did before is not known.' : ' records it; from this page that wants the scope drive.'}
        </span>
      </p>
    )
  if (view.state !== 'active') return <p class="hint">Its tabs are recorded while its browser runs. It does not run now.</p>
  return (
    <p class="acts">
      <button type="button" class="primary" onClick={onLook}>
        Look in
      </button>
      <span class="hint">Requests and lines of its tabs as they come. Secrets are hidden before anything is kept.</span>
    </p>
  )
}

type Name = 'network' | 'console'

function Looked({ view, onClose }: { view: View; onClose: () => void }) {
  const look = useLook(view.id)
  const [shown, setShown] = useState<Name>('network')
  const tab = look.tab.value
  const numbers = { network: look.requests.rows.value.items.length, console: look.lines.rows.value.items.length }
  const toList = (name: Name, word: string) => (
    <button
      type="button"
      role="tab"
      id={`to-${name}`}
      aria-controls="looked"
      aria-selected={shown === name}
      tabIndex={shown === name ? 0 : -1}
      onClick={() => setShown(name)}
    >
      {word} <span class="number">{numbers[name].toLocaleString('en')}</span>
    </button>
  )
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    const other = shown === 'network' ? 'console' : 'network'
    setShown(other)
    document.getElementById(`to-${other}`)?.focus()
  }
  return (
    <>
      <div class="bar">
        <Tabs look={look} />
        <span class="acts">
          {tab !== undefined && (
            <button type="button" onClick={() => void getArchive(view, tab.token)}>
              Download HAR
            </button>
          )}
          <button type="button" class="quiet" onClick={onClose}>
            Stop looking
          </button>
        </span>
      </div>
      <State standing={look.standing.value} />
      <div class="lists" role="tablist" aria-label="Lists" onKeyDown={onKeyDown}>
        {toList('network', 'Network')}
        {toList('console', 'Console')}
      </div>
      <div id="looked" role="tabpanel" aria-labelledby={`to-${shown}`}>
        {/* Another tab's rows are others: what was chosen and typed there says nothing about them. */}
        {shown === 'network' ? <Network key={tab?.token} look={look} /> : <Console key={tab?.token} look={look} />}
      </div>
    </>
  )
}

/** Which tab is looked into. */
function Tabs({ look }: { look: Look }) {
  const tabs = look.tabs.value ?? []
  const tab = look.tab.value
  const gone = tab !== undefined && !tabs.some(({ token }) => token === tab.token)
  const all = gone ? [tab, ...tabs] : tabs
  return (
    <div class="which">
      <span aria-hidden="true">Tab</span>
      <select
        aria-label="Tab of the browser"
        value={tab?.token ?? ''}
        disabled={all.length === 0}
        onChange={(event) => {
          const chosen = all.find(({ token }) => token === event.currentTarget.value)
          if (chosen !== undefined) look.choose(chosen)
        }}
      >
        {all.length === 0 && <option value="">None</option>}
        {all.map((one) => (
          <option key={one.token} value={one.token}>
            {one.title === '' ? one.url : `${one.title} – ${one.url}`}
          </option>
        ))}
      </select>
    </div>
  )
}

const WORDS: Record<Exclude<Standing['is'], 'failed'>, [string, string]> = {
  asking: ['quiet', 'Asking the node'],
  live: ['live', 'Live: what comes is shown as it comes'],
  offline: ['quiet', 'Its browser is not connected: nothing comes until it is back'],
  none: ['quiet', 'No tab can be looked into yet: one that opens is shown as soon as it is there'],
  gone: ['bad', 'This tab is gone: it was closed, or is no longer recorded. What it told is kept here until you choose another'],
}

function State({ standing }: { standing: Standing }) {
  const [tone, words] =
    standing.is === 'failed' ? ['bad', `${sentence(standing.why.message)}. The node is asked again`] : WORDS[standing.is]
  return (
    <p class={`state ${tone}`} role="status">
      {words}.
    </p>
  )
}
