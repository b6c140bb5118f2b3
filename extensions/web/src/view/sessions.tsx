// All sessions, by state: what each shows, who has it, where it is signed in, and what can be done with it.

import { computed, signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { capture, close, doing, importText, notice, outcomes, resume, type Verb } from '../acts.ts'
import { logins, stampOf, views } from '../asked.ts'
import { heard, may, now, sessions } from '../hub.ts'
import type { Schemas } from '../node/client.ts'
import { sessionAddress } from '../route.ts'
import { count, host } from '../words/amounts.ts'
import { captured, found, grouped, holder, lasts, STATES, type State } from '../words/sessions.ts'
import { HandOverDialog } from './hand-over.tsx'
import { OpenDialog } from './open.tsx'
import { Badge, Button, Elapsed, Icon, Picture, sentence } from './parts.tsx'
import { Windowed } from './windowed.tsx'

type Summary = Schemas['SessionSummary']

const text = signal('')
const only = signal<State | 'all'>('all')
const counts = computed(() => {
  const all = sessions.value ?? []
  const of = (state: State) => all.reduce((sum, one) => sum + (one.state === state ? 1 : 0), 0)
  return STATES.map(({ state, word }) => ({ state, word, number: of(state) }))
})
const shown = computed(() => {
  const all = found(sessions.value ?? [], text.value)
  return only.value === 'all' ? all : all.filter((one) => one.state === only.value)
})

/** How large a file may be that becomes a session, in bytes: the node takes no larger one. */
const MOST_FILE_BYTES = 64 << 20

/** Makes a session of each file. */
async function importFiles(files: Iterable<File>): Promise<void> {
  for (const file of files) {
    try {
      if (file.size > MOST_FILE_BYTES) throw new Error(`expected a file of at most 64 MiB, found ${file.name}, which is larger`)
      const { id, name, leftOut } = await importText(await file.text())
      const words = `${name} is here, recoverable${leftOut > 0 ? `; ${count(leftOut, 'item')} of the file left out` : ''}`
      notice.value = { words, failed: false }
      location.hash = sessionAddress(id)
    } catch (error) {
      const failure = heard(error)
      const hint = failure.hint === undefined ? '' : `. ${sentence(failure.hint)}`
      notice.value = { words: `${file.name}: ${failure.message}${hint}`, failed: true }
    }
  }
}

/** The view. */
export function Sessions() {
  const [opens, setOpens] = useState(false)
  const [hands, setHands] = useState<string | undefined>(undefined)
  const dragged = useDrop(may('drive'))
  const all = sessions.value
  const height = useRowHeight()
  if (all === undefined) return <main aria-busy="true" />
  const handed = all.find(({ id }) => id === hands)
  let above = 0
  const listed = grouped(shown.value).map((group) => {
    const begins = above
    above += group.items.length * height
    return { ...group, begins }
  })
  return (
    <main class={dragged ? 'sessions takes' : 'sessions'}>
      <div class="title">
        <h1 tabIndex={-1}>Sessions</h1>
        <div class="acts">
          {may('drive') && <ImportButton />}
          {may('drive') && (
            <button type="button" class="primary" onClick={() => setOpens(true)}>
              New session
            </button>
          )}
        </div>
      </div>
      {all.length === 0 ? <Empty /> : <Filters all={all.length} />}
      {listed.map(({ state, word, items, begins }) => (
        <section key={state} aria-labelledby={`of-${state}`}>
          <h2 id={`of-${state}`}>
            {word} <span class="number">{items.length.toLocaleString('en')}</span>
          </h2>
          <Windowed
            items={items}
            keyOf={(one) => one.id}
            row={(one) => <Row session={one} onHandOver={() => setHands(one.id)} />}
            size={height}
            above={begins}
            label={`${word} sessions`}
          />
        </section>
      ))}
      {all.length > 0 && shown.value.length === 0 && <p class="nothing">No session is called so.</p>}
      {dragged && <div class="drop">Drop a session file, a Playwright storageState or a cookies.txt</div>}
      {opens && <OpenDialog onClose={() => setOpens(false)} />}
      {handed !== undefined && <HandOver session={handed} onClose={() => setHands(undefined)} />}
    </main>
  )
}

/** Before there is a session. */
function Empty() {
  return (
    <div class="empty">
      <h2>No session yet</h2>
      <p>A session is a browser that Baton keeps alive: sign in once, and it comes back after a crash, still signed in.</p>
      <pre>
        <code>baton open https://example.org --name shop --headed</code>
      </pre>
      <p class="hint">It appears here as soon as it is open. A session file dropped on this page becomes one, too.</p>
    </div>
  )
}

function Filters({ all }: { all: number }) {
  const chip = (state: State | 'all', word: string, number: number) => (
    <button type="button" key={state} aria-pressed={only.value === state} onClick={() => (only.value = state)}>
      {word} <span class="number">{number.toLocaleString('en')}</span>
    </button>
  )
  const some = counts.value.filter(({ state, number }) => number > 0 || only.value === state)
  return (
    <div class="filters">
      <input
        type="search"
        aria-label="Find a session by its name"
        placeholder="Find by name"
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <fieldset class="chips">
        <legend class="unseen">Which sessions are shown</legend>
        {chip('all', 'All', all)}
        {some.map(({ state, word, number }) => chip(state, word, number))}
      </fieldset>
    </div>
  )
}

function ImportButton() {
  return (
    <label class="button">
      Import a file
      <input
        type="file"
        class="unseen"
        multiple
        accept=".json,.txt,application/json,text/plain"
        onChange={(event) => {
          const chosen = [...(event.currentTarget.files ?? [])]
          event.currentTarget.value = ''
          void importFiles(chosen)
        }}
      />
    </label>
  )
}

/** One session of the list. */
function Row({ session, onHandOver }: { session: Summary; onHandOver: () => void }) {
  const { id, name } = session
  const stamp = () => stampOf(id, session)
  const asked = views.use(id, stamp).value
  const view = asked.value
  const tab = view?.tabs.find((one) => one.active) ?? view?.tabs[0]
  const who = view === undefined ? undefined : holder(view)
  const outcome = outcomes.value.get(id)
  const title = tab === undefined ? session.description : tab.title || host(tab.url)
  return (
    <article class="row" data-thing={id}>
      <Picture id={id} alt={`What ${name} shows`} />
      <div class="what">
        <p class="name">
          <Icon id={id} />
          <a href={sessionAddress(id)}>{name}</a>
          <Badge state={session.state} />
        </p>
        <p class="line">
          {title || '\u00a0'}
          {tab !== undefined && tab.title !== '' && <span class="where"> {host(tab.url)}</span>}
        </p>
        <p class="facts">
          {outcome?.is === 'failed' && (
            <a class="failed" href={sessionAddress(id)}>
              {outcome.verb} failed: why
            </a>
          )}
          {view !== undefined && <span>{captured(view, now.value)}</span>}
          {view === undefined && asked.failure !== undefined && <span class="over">{asked.failure.message}</span>}
          {who !== undefined && <span class="who">{who}</span>}
          <Logins id={id} stamp={stamp} />
        </p>
      </div>
      <RowActs session={session} driven={view?.agent != null} onHandOver={onHandOver} />
    </article>
  )
}

/** Where it is signed in: the likeliest two, and how many more. */
function Logins({ id, stamp }: { id: string; stamp: () => string }) {
  const items = logins.use(id, stamp).value.value?.items ?? []
  const first = items.slice(0, 2)
  return (
    <>
      {first.map((login) => {
        const { words, tone } = lasts(login, now.value)
        return (
          <span key={login.domain} class={`login ${tone}`}>
            <b>{login.domain}</b> {words}
          </span>
        )
      })}
      {items.length > first.length && <span>and {count(items.length - first.length, 'more site')}</span>}
    </>
  )
}

/** The window that hands one of the list over. It stands beside the list, which takes the arrow keys of what is in it. */
function HandOver({ session, onClose }: { session: Summary; onClose: () => void }) {
  const view = views.use(session.id, () => stampOf(session.id, session)).value.value
  return view === undefined ? null : <HandOverDialog view={view} onClose={onClose} />
}

/** What can be done with it from here; the rest is on its own view. */
function RowActs({ session, driven, onHandOver }: { session: Summary; driven: boolean; onHandOver: () => void }) {
  const busy = doing.value.get(session.id)
  if (!may('drive')) return <div class="acts" />
  const isActive = session.state === 'active'
  const hands = isActive || driven
  const here: readonly Verb[] = isActive ? ['Capture', 'Close', 'Hand over'] : ['Resume', 'Hand over']
  // What was begun elsewhere has no button here that could say so.
  if (busy !== undefined && !here.includes(busy.verb))
    return (
      <div class="acts busy">
        {busy.verb} … <Elapsed since={busy.since} />
      </div>
    )
  const button = (word: Verb, act: () => void, main = false) => (
    <Button class={main ? 'primary' : ''} off={busy !== undefined} aria-label={`${word} ${session.name}`} onClick={act}>
      {busy?.verb !== word ? (
        word
      ) : (
        <>
          <span class="verb">{word}</span> … <Elapsed since={busy.since} />
        </>
      )}
    </Button>
  )
  return (
    <div class="acts">
      {isActive ? (
        <>
          {button('Capture', () => void capture(session))}
          {button('Close', () => void close(session))}
        </>
      ) : (
        button('Resume', () => void resume(session), session.state !== 'closed')
      )}
      {hands && (
        <Button off={busy !== undefined} aria-label={`Hand over… ${session.name}`} onClick={onHandOver}>
          Hand over…
        </Button>
      )}
    </div>
  )
}

/** How high a row is: on a narrow screen it has its buttons below. */
function useRowHeight(): number {
  const narrow = matchMedia('(max-width: 719px)')
  const [height, setHeight] = useState(narrow.matches ? 168 : 104)
  useEffect(() => {
    const change = () => setHeight(narrow.matches ? 168 : 104)
    narrow.addEventListener('change', change)
    return () => narrow.removeEventListener('change', change)
  }, [])
  return height
}

/** Takes files that are dropped anywhere on the page; whether some are above it. */
function useDrop(allowed: boolean): boolean {
  const [above, setAbove] = useState(false)
  // Before the page is seen: a file that nobody takes would take its place.
  useLayoutEffect(() => {
    if (!allowed) return
    const stop = new AbortController()
    const how = { signal: stop.signal }
    const brings = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    addEventListener(
      'dragover',
      (event) => {
        if (!brings(event)) return
        event.preventDefault()
        setAbove(true)
      },
      how,
    )
    addEventListener('dragleave', (event) => event.relatedTarget === null && setAbove(false), how)
    addEventListener(
      'drop',
      (event) => {
        if (!brings(event)) return
        event.preventDefault()
        setAbove(false)
        void importFiles([...(event.dataTransfer?.files ?? [])])
      },
      how,
    )
    return () => stop.abort()
  }, [allowed])
  return above
}
