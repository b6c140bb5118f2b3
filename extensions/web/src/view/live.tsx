// A session's browser, live: its picture, its tabs, and the hands of a person who has taken it over.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { sendFile } from '../acts.ts'
import { heard, may, me, node } from '../hub.ts'
import { addressOf, keyOf, modifiers, nameOf, placeIn, type Said, turned, useOf } from '../live/hands.ts'
import { type Door, Live } from '../live/line.ts'
import { type Picture, sizeFor } from '../live/picture.ts'
import { acting, ask, type Schemas } from '../node/client.ts'
import { type Failure, failureOf } from '../node/failure.ts'
import { host } from '../words/amounts.ts'
import { pictured } from '../words/pictures.ts'
import { whose } from '../words/wishes.ts'
import { Button, sentence, Trouble } from './parts.tsx'
import { Wish } from './wish.tsx'

type View = Schemas['SessionView']

/** What is shown of a session that can be watched. */
export function LiveView({ view }: { view: View }) {
  const [watches, setWatches] = useState(false)
  if (!watches && view.state !== 'active') return null
  return (
    <section class="live" aria-labelledby="live">
      <h2 id="live">Live</h2>
      {watches ? (
        <Watched view={view} onClose={() => setWatches(false)} />
      ) : (
        <p class="acts">
          <button type="button" class="primary" onClick={() => setWatches(true)}>
            Watch
          </button>
          <span class="hint">The picture shows everything that the browser does. That you watch is in the audit log.</span>
        </p>
      )}
    </section>
  )
}

/** How a session is reached by who is signed in. */
const doorOf = (id: string): Door => ({
  url: async () => (await ask(node().api.POST('/sessions/{id}/live', { params: { path: { id } } }))).live_url,
  failed: heard,
  turned: (driver) => acting.set(id, driver.own ? (driver.agent ?? undefined) : undefined),
})

/** A live picture, and where it is drawn. */
export function useLive(door: Door) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const place = useRef<HTMLDivElement>(null)
  const [live, setLive] = useState<Live>()
  useEffect(() => {
    const made = new Live(door, (bitmap, of) => draw(canvas.current, bitmap, of))
    setLive(made)
    return () => made.close()
  }, [door])
  useEffect(() => {
    const frame = place.current
    if (live === undefined || frame === null) return
    const observer = new ResizeObserver(() => {
      const { clientWidth } = frame
      live.resize(sizeFor(clientWidth, clientWidth, devicePixelRatio))
    })
    observer.observe(frame)
    return () => observer.disconnect()
  }, [live])
  return { live, canvas, place }
}

/** The picture, and the hands of who drives. */
export function Screen({
  live,
  canvas,
  place,
  drives,
  label,
  isDark = false,
}: {
  live: Live | undefined
  canvas: { current: HTMLCanvasElement | null }
  place: { current: HTMLDivElement | null }
  drives: boolean
  label: string
  isDark?: boolean
}) {
  const keys = useRef<HTMLTextAreaElement>(null)
  return (
    <div class={`screen${drives ? ' driven' : ''}${isDark ? ' dark' : ''}`} ref={place}>
      <canvas ref={canvas} width={1280} height={800} role="img" aria-label={label} />
      {live !== undefined && drives && <Hands live={live} canvas={canvas} keys={keys} />}
    </div>
  )
}

function Watched({ view, onClose }: { view: View; onClose: () => void }) {
  const door = useMemo(() => doorOf(view.id), [view.id])
  const { live, canvas, place } = useLive(door)
  const drives = live?.driver.value.own ?? false
  const put = (file: File) => sendFile(view, file)
  const tab = live?.tabs.value.tabs.find((one) => one.number === live.tabs.value.front)
  return (
    <>
      <Turn live={live} onClose={onClose} />
      {live !== undefined && <Strip live={live} />}
      {live !== undefined && <Address live={live} tab={tab} />}
      {live?.refused.value !== undefined && (
        <div class="trouble" role="alert">
          <p>{sentence(live.refused.value)}</p>
          <button type="button" class="quiet" onClick={() => live.dismiss()}>
            Dismiss
          </button>
        </div>
      )}
      {live?.tabs.value.tabs.map(
        (one) =>
          one.dialog != null && (
            <Question key={one.dialog.question} live={live} tab={one} dialog={one.dialog} from={host(one.url)} />
          ),
      )}
      {live?.tabs.value.tabs.map(
        (one) => one.chooser != null && <Choice key={one.chooser.question} live={live} put={put} tab={one} />,
      )}
      {live?.tabs.value.tabs.map(
        (one) =>
          one.permission != null && <Wish key={one.permission.question} live={live} tab={one.number} asked={one.permission} />,
      )}
      <Screen
        live={live}
        canvas={canvas}
        place={place}
        drives={drives}
        label={tab === undefined ? 'No picture yet' : `Live picture of ${tab.title || tab.url}`}
      />
      <State live={live} />
    </>
  )
}

/** The newest picture, in the place of the one before. */
function draw(canvas: HTMLCanvasElement | null, bitmap: ImageBitmap, of: Picture): void {
  if (canvas === null) return
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
    canvas.width = bitmap.width
    canvas.height = bitmap.height
  }
  canvas.dataset.picture = String(of.number)
  canvas.dataset.viewport = `${of.width}x${of.height}`
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0)
}

/** Who drives, and what a person can do about it. */
function Turn({ live, onClose }: { live: Live | undefined; onClose: () => void }) {
  const [typed, setName] = useState<string>()
  const driver = live?.driver.value
  // Two under one name could not be told apart.
  const own = nameOf(me.value?.key ?? '')
  const name = typed ?? (own === driver?.agent ? nameOf(`person-${own}`) : own)
  const words = driver?.own
    ? `You drive as ${driver.agent}. The agent is told so, and goes on when you give it back.`
    : driver?.agent == null
      ? 'You watch. Nobody has said that they drive.'
      : `You watch. ${driver.agent} drives.`
  return (
    <div class="turn">
      <p role="status">{words}</p>
      <form
        class="acts"
        onSubmit={(event) => {
          event.preventDefault()
          if (driver?.own) live?.say({ type: 'give_back' })
          else live?.say({ type: 'take_over', name: nameOf(name) })
        }}
      >
        {may('drive') && !driver?.own && (
          <label class="as-name">
            as <input value={name} maxLength={64} size={12} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
        )}
        {may('drive') && (
          <Button type="submit" class="primary" id="turn" off={live === undefined}>
            {driver?.own ? 'Give back' : 'Take over'}
          </Button>
        )}
        <button type="button" onClick={onClose}>
          Stop watching
        </button>
      </form>
    </div>
  )
}

function Strip({ live }: { live: Live }) {
  const { tabs, front } = live.tabs.value
  const drives = live.driver.value.own
  return (
    <ul class="live-tabs" aria-label="Tabs of the browser">
      {tabs.map((tab) => (
        <li key={tab.number} class={tab.number === front ? 'in-front' : ''}>
          <Button
            class="quiet tab"
            aria-current={tab.number === front ? 'true' : undefined}
            off={!drives}
            title={tab.url}
            onClick={() => live.say({ type: 'front', tab: tab.number })}
          >
            {tab.crashed ? 'Crashed: ' : ''}
            {tab.title || host(tab.url)}
          </Button>
          {drives && (
            <button
              type="button"
              class="quiet"
              aria-label={`Close ${tab.title || tab.url}`}
              onClick={() => live.say({ type: 'close_tab', tab: tab.number })}
            >
              ×
            </button>
          )}
        </li>
      ))}
      {drives && (
        <li>
          <button
            type="button"
            class="quiet"
            aria-label="New tab"
            onClick={() => live.say({ type: 'open_tab', url: 'about:blank' })}
          >
            +
          </button>
        </li>
      )}
    </ul>
  )
}

function Address({ live, tab }: { live: Live; tab: Schemas['LiveTab'] | undefined }) {
  const [typed, setTyped] = useState<string>()
  const drives = live.driver.value.own && tab !== undefined
  const say = (message: (tab: number) => Said) => tab !== undefined && live.say(message(tab.number))
  return (
    <form
      class="address"
      onSubmit={(event) => {
        event.preventDefault()
        if (typed !== undefined && typed.trim() !== '') say((tab) => ({ type: 'go', tab, url: addressOf(typed) }))
        setTyped(undefined)
      }}
    >
      <Button aria-label="Back" off={!drives} onClick={() => say((tab) => ({ type: 'step', tab, by: -1 }))}>
        ←
      </Button>
      <Button aria-label="Forward" off={!drives} onClick={() => say((tab) => ({ type: 'step', tab, by: 1 }))}>
        →
      </Button>
      <Button aria-label="Reload" off={!drives} onClick={() => say((tab) => ({ type: 'reload', tab }))}>
        ↻
      </Button>
      <input
        aria-label="Address"
        autocomplete="off"
        spellcheck={false}
        readOnly={!drives}
        value={typed ?? tab?.url ?? ''}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={() => setTyped(undefined)}
      />
      <Button type="submit" off={!drives} onMouseDown={(event) => event.preventDefault()}>
        Go
      </Button>
    </form>
  )
}

/** What a page asks. */
export function Question({
  live,
  tab,
  dialog,
  from,
}: {
  live: Live
  tab: Schemas['LiveTab']
  dialog: Schemas['LiveDialog']
  from: string
}) {
  const [text, setText] = useState(dialog.suggests)
  const drives = live.driver.value.own
  const answer = (accept: boolean) =>
    live.say({
      type: 'answer',
      tab: tab.number,
      question: dialog.question,
      accept,
      ...(dialog.kind === 'prompt' && accept ? { text } : {}),
    })
  const leaves = dialog.kind === 'beforeunload'
  return (
    <div class="question" role="alertdialog" aria-label={`A question of ${from}`}>
      <p class="asks">{leaves ? 'Leave this page? What was changed may not be saved.' : dialog.message}</p>
      {dialog.kind === 'prompt' && (
        <input aria-label="Answer" value={text} readOnly={!drives} onInput={(event) => setText(event.currentTarget.value)} />
      )}
      {drives ? (
        <p class="acts">
          <button type="button" class="primary" onClick={() => answer(true)}>
            {leaves ? 'Leave' : 'OK'}
          </button>
          {dialog.kind !== 'alert' && (
            <button type="button" onClick={() => answer(false)}>
              {leaves ? 'Stay' : 'Cancel'}
            </button>
          )}
        </p>
      ) : (
        <p class="hint">The page waits until who drives answers. Take over to answer it yourself.</p>
      )}
    </div>
  )
}

/** A page that asks for files gets some of the person's own, which become files of the session. */
export function Choice({ live, put, tab }: { live: Live; put: (file: File) => Promise<void>; tab: Schemas['LiveTab'] }) {
  const [failed, setFailed] = useState<Failure>()
  if (!live.driver.value.own || tab.chooser == null) return null
  const { many, question } = tab.chooser
  const from = whose(tab.chooser)
  const say = (files: string[]) => live.say({ type: 'choose', tab: tab.number, question, files })
  const choose = async (chosen: File[]) => {
    setFailed(undefined)
    try {
      for (const file of chosen) await put(file)
    } catch (error) {
      // A file that lay there under the same name is not the one that was chosen.
      setFailed(failureOf(error))
      return
    }
    say(chosen.map((file) => file.name))
  }
  return (
    <fieldset class="question" aria-label={`${from} asks for ${many ? 'files' : 'a file'}`}>
      <p>
        {from} asks for {many ? 'files' : 'a file'}. What you choose goes among the session's files, and to the page.
      </p>
      {failed !== undefined && <Trouble failure={failed} />}
      <p class="acts">
        <label class="button">
          Choose
          <input
            type="file"
            class="unseen"
            multiple={many}
            onChange={(event) => {
              const chosen = [...(event.currentTarget.files ?? [])]
              // The same one may be chosen again.
              event.currentTarget.value = ''
              if (chosen.length > 0) void choose(chosen)
            }}
          />
        </label>
        <button type="button" onClick={() => say([])}>
          None
        </button>
      </p>
    </fieldset>
  )
}

/** How it stands with the picture. */
export function State({ live }: { live: Live | undefined }) {
  const standing = live?.standing.value ?? { is: 'coming' as const }
  const pace = live?.pace.value
  if (standing.is === 'lost')
    return (
      <Trouble failure={standing.why}>
        {standing.elsewhere ? (
          <p class="acts">
            <button type="button" onClick={() => live?.again()}>
              Show it here
            </button>
          </p>
        ) : (
          <p class="hint">The picture comes back by itself.</p>
        )}
      </Trouble>
    )
  const bad = live === undefined ? 0 : live.tabs.value.bad_pictures + live.undrawn.value
  return (
    <p class="hint" role="status">
      {pictured(standing.is, pace, bad)}
    </p>
  )
}

/** Keys, text, mouse and fingers of a person who drives. */
function Hands({
  live,
  canvas,
  keys,
}: {
  live: Live
  canvas: { current: HTMLCanvasElement | null }
  keys: { current: HTMLTextAreaElement | null }
}) {
  useEffect(() => {
    const { current: at } = canvas
    if (at === null) return
    const stop = new AbortController()
    follow(at, live, () => keys.current?.focus({ preventScroll: true }), stop.signal)
    keys.current?.focus({ preventScroll: true })
    return () => stop.abort()
  }, [live])
  const tab = () => live.shown?.tab ?? 0
  const empty = () => {
    if (keys.current !== null) keys.current.value = ''
  }
  return (
    <textarea
      ref={keys}
      class="keys"
      data-rests
      autocapitalize="off"
      autocomplete="off"
      spellcheck={false}
      aria-label="Keys for the page in the picture. F6 leaves it."
      onKeyDown={(event) => {
        const use = useOf(event)
        if (use === 'composed' || use === 'pasted') return
        event.preventDefault()
        if (use === 'leaves') document.getElementById('turn')?.focus()
        else live.say(keyOf(tab(), event, true))
      }}
      onKeyUp={(event) => {
        if (useOf(event) !== 'sent') return
        event.preventDefault()
        live.say(keyOf(tab(), event, false))
      }}
      onCompositionUpdate={(event) => live.say({ type: 'compose', tab: tab(), text: event.data })}
      onCompositionEnd={(event) => {
        live.say(event.data === '' ? { type: 'compose', tab: tab(), text: '' } : { type: 'text', tab: tab(), text: event.data })
        empty()
      }}
      onInput={(event) => {
        const { isComposing, inputType, data } = event as InputEvent
        if (isComposing || inputType === 'insertCompositionText' || inputType === 'insertFromPaste') return
        if (inputType === 'deleteContentBackward') press(live, tab(), 'Backspace', 8)
        else if (inputType === 'insertLineBreak') press(live, tab(), 'Enter', 13)
        else if (data != null && data !== '') live.say({ type: 'text', tab: tab(), text: data })
        empty()
      }}
      onPaste={(event) => {
        event.preventDefault()
        const text = event.clipboardData?.getData('text/plain') ?? ''
        if (text !== '') live.say({ type: 'text', tab: tab(), text: text.slice(0, LONGEST_PASTE) })
      }}
    />
  )
}

/** The longest text that is pasted, in characters. */
const LONGEST_PASTE = 200_000

function press(live: Live, tab: number, key: string, number: number): void {
  for (const down of [true, false]) live.say({ type: 'key', tab, down, key, code: key, number })
}

/** Follows mouse and fingers over the picture until `signal` ends. */
function follow(canvas: HTMLCanvasElement, live: Live, focus: () => void, signal: AbortSignal): void {
  const at = (event: { clientX: number; clientY: number }) =>
    placeIn(event, canvas.getBoundingClientRect(), live.shown ?? { width: canvas.width, height: canvas.height })
  const tab = () => live.shown?.tab ?? 0
  let held = 0
  let moved: MouseEvent | undefined
  const move = () => {
    const event = moved
    moved = undefined
    if (event !== undefined && !signal.aborted)
      live.say({ type: 'mouse', tab: tab(), kind: 'move', ...at(event), modifiers: modifiers(event) })
  }
  const onMove = (event: MouseEvent) => {
    if (moved === undefined) requestAnimationFrame(move)
    moved = event
  }
  canvas.addEventListener('mousemove', onMove, { signal })
  canvas.addEventListener(
    'mousedown',
    (event) => {
      event.preventDefault()
      focus()
      moved = undefined
      held += 1
      const { button, detail: clicks } = event
      live.say({ type: 'mouse', tab: tab(), kind: 'down', ...at(event), button, clicks, modifiers: modifiers(event) })
    },
    { signal },
  )
  addEventListener(
    'mouseup',
    (event) => {
      if (held === 0) return
      held -= 1
      move()
      const { button, detail: clicks } = event
      live.say({ type: 'mouse', tab: tab(), kind: 'up', ...at(event), button, clicks, modifiers: modifiers(event) })
    },
    { signal },
  )
  // A drag goes on outside of the picture.
  addEventListener('mousemove', (event) => held > 0 && event.target !== canvas && onMove(event), { signal })
  canvas.addEventListener('contextmenu', (event) => event.preventDefault(), { signal })
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault()
      live.say({ type: 'wheel', tab: tab(), ...at(event), ...turned(event), modifiers: modifiers(event) })
    },
    { signal, passive: false },
  )
  for (const kind of ['start', 'move', 'end', 'cancel'] as const)
    canvas.addEventListener(
      `touch${kind}`,
      (event) => {
        event.preventDefault()
        if (kind === 'start') focus()
        const fingers = [...event.touches].slice(0, 10).map((touch) => ({ id: touch.identifier & 0xff, ...at(touch) }))
        live.say({ type: 'touch', tab: tab(), kind, fingers, modifiers: modifiers(event) })
      },
      { signal, passive: false },
    )
}
