// The page: who is signed in, how it stands with the node, and the view that the address names.

import { effect } from '@preact/signals'
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { forgetActs, notice } from './acts.ts'
import { forgetAll } from './asked.ts'
import { keepFocus } from './focus.ts'
import { begin, leave, link, may, me, tryNow } from './hub.ts'
import type { Schemas } from './node/client.ts'
import type { Failure } from './node/failure.ts'
import { followAddress, type Route, route, sandboxAddress } from './route.ts'
import { AsWhom } from './view/as-whom.tsx'
import { Asked } from './view/asked.tsx'
import { sentence } from './view/parts.tsx'
import { forgetSandboxes, Sandboxes } from './view/sandboxes.tsx'
import { Session } from './view/session.tsx'
import { Sessions } from './view/sessions.tsx'
import { SignIn } from './view/sign-in.tsx'

/** How long what was done is said. */
const NOTICE_MS = 8_000

/** What can be gone to from everywhere, with the scope that it wants: a view of peers or of keys has its place here. */
const VIEWS: readonly { at: Route['at']; word: string; address: string; scope?: Schemas['Scope'] }[] = [
  { at: 'sessions', word: 'Sessions', address: '#/' },
  { at: 'sandboxes', word: 'Sandboxes', address: sandboxAddress(), scope: 'sandbox' },
]

function Page() {
  const at = route.value
  if (at.at === 'asked') return <Asked secret={at.secret} />
  const how = link.value
  if (how.is === 'signed-out') return <SignIn why={how.why} />
  if (how.is === 'asking') return <AsWhom came={how.came} before={how.before} />
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <Top />
      {how.is === 'lost' && <Lost why={how.why} nextTry={how.nextTry} />}
      {me.value === undefined ? (
        <main aria-busy="true">{how.is === 'connecting' && <p class="nothing">Asking the node …</p>}</main>
      ) : at.at === 'session' ? (
        <Session key={at.id} id={at.id} />
      ) : at.at === 'sandboxes' && may('sandbox') ? (
        <Sandboxes id={at.id} />
      ) : (
        <Sessions />
      )}
      <Notice />
    </>
  )
}

/** The address behind `#` names a view, so no link leads there. */
function skip(): void {
  document.querySelector<HTMLElement>('h1')?.focus()
}

/** Where the page is, and as whom it asks. */
function Top() {
  const view = me.value
  return (
    <header class="top">
      <a class="brand" href="#/">
        <img src="/page/icon.svg" alt="" width="28" height="28" /> Baton
      </a>
      {view !== undefined && <span class="node">{view.node_name}</span>}
      <nav aria-label="Views">
        {VIEWS.filter(({ scope }) => scope === undefined || may(scope)).map(({ at, word, address }) => (
          <a key={at} href={address} aria-current={route.value.at === at ? 'page' : undefined}>
            {word}
          </a>
        ))}
      </nav>
      {view !== undefined && (
        <span class="as">
          <span class="owner">
            {view.owner} <span class="key">by {view.key}</span>
          </span>
          <button type="button" class="quiet" onClick={() => void leave()}>
            Sign out
          </button>
        </span>
      )}
    </header>
  )
}

/** The node does not answer: since when, and when it is asked again. */
function Lost({ why, nextTry }: { why: Failure; nextTry: number }) {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    const count = () => setLeft(Math.max(0, Math.ceil((nextTry - Date.now()) / 1000)))
    count()
    const timer = setInterval(count, 500)
    return () => clearInterval(timer)
  }, [nextTry])
  return (
    <div class="lost" role="status">
      <p>
        {sentence(why.message)}. What is shown is what was known last.{' '}
        <span aria-hidden="true">Asked again {left > 0 ? `in ${left} s` : 'now'}.</span>
      </p>
      <button type="button" onClick={tryNow}>
        Ask now
      </button>
    </div>
  )
}

/** What was done, said once. */
function Notice() {
  const said = notice.value
  useEffect(() => {
    if (said === undefined) return
    const timer = setTimeout(() => (notice.value = undefined), said.failed ? NOTICE_MS * 2 : NOTICE_MS)
    return () => clearTimeout(timer)
  }, [said])
  return (
    <div class="notice" aria-live="polite">
      {said !== undefined && <p class={said.failed ? 'failed' : ''}>{said.words}</p>}
    </div>
  )
}

effect(() => {
  const view = me.value
  document.title = view === undefined ? 'Baton' : `Baton: ${view.node_name}`
})
effect(() => {
  if (link.value.is !== 'signed-out') return
  forgetAll()
  forgetActs()
  forgetSandboxes()
})
followAddress()
const root = document.getElementById('page')
if (root !== null) {
  render(<Page />, root)
  keepFocus(root)
}
/** A guest needs nobody signed in. */
let begun = false
effect(() => {
  if (begun || route.value.at === 'asked') return
  begun = true
  void begin().then((why) => {
    if (why !== undefined) notice.value = { words: sentence(why.message), failed: true }
  })
})
