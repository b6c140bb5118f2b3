// One session: what it shows, its tabs, its history, what the last resume brought back, its logins and its files.

import { useEffect, useRef, useState } from 'preact/hooks'
import { age, size } from '../../../shared/amounts.ts'
import { capture, close, dismiss, doing, exportAs, getFile, outcomes, putFile, remove, resume, type Verb } from '../acts.ts'
import { files, logins, stampOf, views } from '../asked.ts'
import { may, now, sessions } from '../hub.ts'
import type { Schemas } from '../node/client.ts'
import { count, host } from '../words/amounts.ts'
import { captured, holder, lasts } from '../words/sessions.ts'
import { HandOverDialog } from './hand-over.tsx'
import { Strip } from './history.tsx'
import { LiveView } from './live.tsx'
import { LookView } from './look.tsx'
import { Badge, Button, Dialog, Elapsed, Icon, Picture, Trouble } from './parts.tsx'
import { Receipt, Steps } from './receipt.tsx'
import { Windowed } from './windowed.tsx'

type View = Schemas['SessionView']

/** The view. */
export function Session({ id }: { id: string }) {
  const find = () => sessions.value?.find((one) => one.id === id)
  const stamp = () => stampOf(id, find())
  const summary = find()
  const asked = views.use(id, stamp).value
  const view = asked.value
  if (view === undefined || (summary === undefined && sessions.value !== undefined && asked.failure !== undefined))
    return (
      <main class="session" aria-busy={asked.busy}>
        <Back />
        <h1 tabIndex={-1}>{summary?.name ?? 'Session'}</h1>
        {asked.failure !== undefined && <Trouble failure={asked.failure} />}
      </main>
    )
  return (
    <main class="session">
      <Back />
      <Head view={view} />
      <Progress view={view} />
      {may('watch') && <LiveView view={view} />}
      <section aria-labelledby="history">
        <h2 id="history">History</h2>
        <Strip session={view} />
      </section>
      <div class="columns">
        <Tabs view={view} />
        <Logins id={id} stamp={stamp} />
      </div>
      <LookView view={view} />
      {view.receipt != null && outcomes.value.get(id)?.is !== 'done' && (
        <section aria-labelledby="receipt">
          <h2 id="receipt">What the last resume brought back</h2>
          <Receipt receipt={view.receipt} />
        </section>
      )}
      <Files view={view} stamp={stamp} />
    </main>
  )
}

const Back = () => (
  <a class="back" href="#/">
    ← Sessions
  </a>
)

function Head({ view }: { view: View }) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // Before it was known, another heading had the focus.
    if (document.activeElement === document.body) title.current?.focus({ preventScroll: true })
  }, [])
  const who = holder(view)
  const unread = view.snapshot?.unread?.length ?? 0
  return (
    <header class="head">
      <Picture id={view.id} alt={`What ${view.name} shows`} />
      <div>
        <h1 ref={title} tabIndex={-1}>
          <Icon id={view.id} /> <span class="called">{view.name}</span> <Badge state={view.state} />
        </h1>
        {view.description !== '' && <p class="line">{view.description}</p>}
        <p class="facts">
          <span>opened {age(view.created_at, now.value)}</span>
          <span>{captured(view, now.value)}</span>
          {view.snapshot != null && <span>{size(view.snapshot.bytes)}</span>}
          {who !== undefined && <span class="who">{who}</span>}
          {view.headed && <span>shows a window</span>}
          {unread > 0 && <span class="soon">{count(unread, 'place')} did not answer, and stand as last known</span>}
        </p>
        <Acts view={view} />
      </div>
    </header>
  )
}

function Acts({ view }: { view: View }) {
  const [asks, setAsks] = useState<'export' | 'hand over' | 'delete' | undefined>(undefined)
  const busy = doing.value.has(view.id)
  const button = (word: Verb | 'Hand over…', act: () => void, main = false) => (
    <Button class={main ? 'primary' : ''} off={busy} onClick={act}>
      {word}
    </Button>
  )
  const isActive = view.state === 'active'
  return (
    <div class="acts">
      {may('drive') && !isActive && button('Resume', () => void resume(view), true)}
      {may('drive') && isActive && button('Capture', () => void capture(view), true)}
      {may('drive') && isActive && button('Close', () => void close(view))}
      {may('drive') && (isActive || view.agent != null) && button('Hand over…', () => setAsks('hand over'))}
      {may('reveal') && view.snapshot != null && button('Export', () => setAsks('export'))}
      {may('drive') && !isActive && button('Delete', () => setAsks('delete'))}
      {asks === 'hand over' && <HandOverDialog view={view} onClose={() => setAsks(undefined)} />}
      {asks === 'export' && (
        <Dialog title={`Export ${view.name}`} onClose={() => setAsks(undefined)}>
          <p>
            Whoever has the file is signed in as you are. A session file holds everything; storageState is what Playwright reads.
          </p>
          <div class="acts">
            <button type="button" onClick={() => setAsks(undefined)}>
              Cancel
            </button>
            {(['storage-state', 'session'] as const).map((format) => (
              <button
                key={format}
                type="button"
                class={format === 'session' ? 'primary' : ''}
                onClick={() => {
                  setAsks(undefined)
                  void exportAs(view, format)
                }}
              >
                {format === 'session' ? 'Session file' : 'storageState'}
              </button>
            ))}
          </div>
        </Dialog>
      )}
      {asks === 'delete' && (
        <Dialog title={`Delete ${view.name}?`} onClose={() => setAsks(undefined)}>
          <p>Its snapshots, its receipts and its profile are gone with it. This cannot be undone.</p>
          <div class="acts">
            <button type="button" onClick={() => setAsks(undefined)}>
              Cancel
            </button>
            <button
              type="button"
              class="danger"
              onClick={() => {
                setAsks(undefined)
                void remove(view).then(() => {
                  if (outcomes.value.get(view.id)?.is === 'done') location.hash = '#/'
                })
              }}
            >
              Delete
            </button>
          </div>
        </Dialog>
      )}
    </div>
  )
}

/** What is under way, and then what came of it. */
function Progress({ view }: { view: View }) {
  const busy = doing.value.get(view.id)
  const outcome = outcomes.value.get(view.id)
  if (busy !== undefined) {
    const slow = busy.verb === 'Resume' || busy.verb === 'Roll back'
    return (
      <div class="progress" role="status">
        <p>
          <b>{busy.verb}</b> is under way: <Elapsed since={busy.since} />
        </p>
        <progress aria-label={`${busy.verb} is under way`} />
        {slow && <p class="hint">The last good snapshot is read, a browser started, its state put back and read once more.</p>}
      </div>
    )
  }
  if (outcome === undefined) return null
  const end = (
    <button type="button" class="quiet" onClick={() => dismiss(view.id)}>
      Dismiss
    </button>
  )
  if (outcome.is === 'failed')
    return (
      <Trouble failure={outcome.failure}>
        <p class="hint">{outcome.verb} was not done.</p>
        {end}
      </Trouble>
    )
  const { resumed } = outcome
  if (resumed === undefined)
    return (
      <div class="progress done" role="status">
        <p>
          <b>{outcome.verb}</b>: {outcome.words}.
        </p>
        {end}
      </div>
    )
  return (
    <section class="progress done" aria-labelledby="brought-back">
      <h2 id="brought-back">
        {outcome.verb}: {outcome.words}
      </h2>
      {resumed.handed != null && <p>{resumed.handed.name} handed it over.</p>}
      <details>
        <summary>How long it took</summary>
        <Steps timing={resumed.timing} />
      </details>
      {resumed.receipt != null && <Receipt receipt={resumed.receipt} />}
      {end}
    </section>
  )
}

/** How high a tab and a file are. */
const ROW = 56

function Tabs({ view }: { view: View }) {
  const foreign = view.foreign_tabs ?? 0
  return (
    <section aria-labelledby="tabs">
      <h2 id="tabs">
        Tabs <span class="number">{view.tabs.length}</span>
      </h2>
      {view.tabs.length === 0 ? (
        <p class="nothing">No tab is known.</p>
      ) : (
        <Windowed
          items={view.tabs.map((tab, index) => ({ tab, index }))}
          keyOf={({ index }) => String(index)}
          size={ROW}
          label="Tabs"
          row={({ tab }) => (
            <div class="two-lines">
              <span class="first">
                {tab.title || host(tab.url)} {tab.active && <span class="mark main">in front</span>}
              </span>
              <span class="second" title={tab.url}>
                {tab.url}
              </span>
            </div>
          )}
        />
      )}
      {foreign > 0 && <p class="hint">{count(foreign, 'more tab')} in contexts of a tool's own, which are not kept.</p>}
    </section>
  )
}

function Logins({ id, stamp }: { id: string; stamp: () => string }) {
  const asked = logins.use(id, stamp).value
  const items = asked.value?.items ?? []
  return (
    <section aria-labelledby="logins">
      <h2 id="logins">
        Signed in at <span class="number">{items.length}</span>
      </h2>
      {asked.failure !== undefined && <Trouble failure={asked.failure} />}
      {asked.value !== undefined && items.length === 0 && <p class="nothing">No login is known.</p>}
      <Windowed
        items={items}
        keyOf={(one) => one.domain}
        size={ROW}
        label="Logins"
        row={(one) => {
          const { words, tone } = lasts(one, now.value)
          const sure = one.likelihood === 'possible' ? 'perhaps' : one.likelihood === 'likely' ? 'likely' : 'no more'
          return (
            <div class="two-lines">
              <span class="first">{one.domain}</span>
              <span class={`second ${tone}`}>
                {sure}; {words}
              </span>
            </div>
          )
        }}
      />
    </section>
  )
}

function Files({ view, stamp }: { view: View; stamp: () => string }) {
  const asked = files.use(view.id, stamp).value
  const items = asked.value?.items ?? []
  return (
    <section aria-labelledby="files">
      <h2 id="files">
        Files <span class="number">{items.length}</span>
      </h2>
      {asked.failure !== undefined && <Trouble failure={asked.failure} />}
      {asked.value !== undefined && items.length === 0 && (
        <p class="nothing">What its browser downloads is here, and what it may upload.</p>
      )}
      <Windowed
        items={items}
        keyOf={(one) => one.name}
        size={ROW}
        label="Files"
        row={(one) => (
          <div class="two-lines">
            <button type="button" class="first link" onClick={() => void getFile(view, one.name)}>
              {one.name}
            </button>
            <span class="second">
              {size(one.bytes)}, changed {age(one.changed_at, now.value)}
            </span>
          </div>
        )}
      />
      {may('drive') && (
        <label class="button">
          Add a file
          <input
            type="file"
            class="unseen"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0]
              event.currentTarget.value = ''
              if (file !== undefined) void putFile(view, file)
            }}
          />
        </label>
      )}
    </section>
  )
}
