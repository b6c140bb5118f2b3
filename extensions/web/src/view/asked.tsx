// What a guest sees: who asks for what, then the one tab, then that it is over.

import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Ask, answer, arrive, end, giveFile, liveAddress, pressed, type Visit, visit } from '../guest/asked.ts'
import { nameOf } from '../live/hands.ts'
import type { Door, Live } from '../live/line.ts'
import { failureOf } from '../node/failure.ts'
import { minutesLeft, over } from '../words/asked.ts'
import { Choice, Question, Screen, State, useLive } from './live.tsx'
import { Button, sentence, Trouble } from './parts.tsx'
import { Wish } from './wish.tsx'

/** The view. */
export function Asked({ secret }: { secret: string | undefined }) {
  useEffect(() => {
    // The address loses its secret once that is used up, which is no new visit.
    if (secret !== undefined || visit.value.is === 'asking') void arrive(secret)
  }, [secret])
  const at = visit.value
  return (
    <main class={at.is === 'inside' ? 'asked inside' : 'asked'}>
      {at.is === 'asking' && <p class="nothing">Asking the node …</p>}
      {at.is === 'refused' && (
        <>
          <h1 tabIndex={-1}>This link opens nothing</h1>
          <Trouble failure={at.why} />
        </>
      )}
      {at.is === 'invited' && <Invited at={at} />}
      {at.is === 'inside' && <Inside key={at.value} at={at} />}
      {at.is === 'over' && (
        <>
          <h1 tabIndex={-1}>{over(at.ask.state).title}</h1>
          <p>{over(at.ask.state).words}</p>
          <p class="hint">This page can be closed.</p>
        </>
      )}
    </main>
  )
}

/** Until when, counted down. */
function Left({ until }: { until: string }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000)
    return () => clearInterval(timer)
  }, [])
  return <>{minutesLeft(until, now)}</>
}

function Invited({ at: { ask, why } }: { at: Visit & { is: 'invited' } }) {
  const [name, setName] = useState('')
  return (
    <>
      <img src="/page/icon.svg" alt="" width="56" height="56" />
      <h1 tabIndex={-1}>{ask.from} asks you</h1>
      <blockquote class="wanted">{ask.text}</blockquote>
      <dl class="facts">
        <dt>You will see</dt>
        <dd>
          one tab of the browser <b>{ask.session}</b>, while it is at {ask.sites.join(', ')}
        </dd>
        <dt>It ends</dt>
        <dd>
          <Left until={ask.expires_at} />
        </dd>
      </dl>
      <p class="hint">
        What you type there is sent to that browser. What it holds afterwards stays with who asks: open it only if you know them.
      </p>
      {why !== undefined && <Trouble failure={why} />}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void answer(name === '' ? '' : nameOf(name), false)
        }}
      >
        <label for="name">Your name, for who asks</label>
        <input
          id="name"
          value={name}
          maxLength={64}
          placeholder="guest"
          autocomplete="off"
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <div class="acts">
          <Button type="submit" class="primary" off={pressed.value}>
            {pressed.value ? 'Opening …' : 'Open'}
          </Button>
          <Button off={pressed.value} onClick={() => void answer('', true)}>
            Decline
          </Button>
        </div>
      </form>
    </>
  )
}

function Inside({ at: { ask, value, why } }: { at: Visit & { is: 'inside' } }) {
  const door = useMemo<Door>(() => ({ url: () => liveAddress(value), failed: failureOf, turned: () => undefined }), [value])
  const { live, canvas, place } = useLive(door)
  const drives = live?.driver.value.own ?? false
  const tab = live?.tabs.value.tabs[0]
  const away = live?.tabs.value.away
  const put = async (file: File) => giveFile(value, file)
  return (
    <section class="live" aria-labelledby="wanted">
      <div class="turn">
        <div>
          <h1 id="wanted" tabIndex={-1}>
            {ask.text}
          </h1>
          <p class="hint">
            {ask.from} asks; <Left until={ask.expires_at} />
          </p>
        </div>
        <div class="acts">
          <Button class="primary" id="turn" off={pressed.value} onClick={() => void end(true)}>
            {pressed.value ? 'Giving back …' : 'Done'}
          </Button>
          <Button off={pressed.value} onClick={() => void end(false)}>
            Cannot do it
          </Button>
        </div>
      </div>
      {why !== undefined && <Trouble failure={why} />}
      {live !== undefined && <Steps live={live} ask={ask} />}
      {live?.refused.value !== undefined && (
        <div class="trouble" role="alert">
          <p>{sentence(live.refused.value)}</p>
          <button type="button" class="quiet" onClick={() => live.dismiss()}>
            Dismiss
          </button>
        </div>
      )}
      {live !== undefined && tab?.dialog != null && (
        <Question key={tab.dialog.question} live={live} tab={tab} dialog={tab.dialog} from={ask.sites[0] ?? 'the page'} />
      )}
      {live !== undefined && tab?.chooser != null && <Choice key={tab.chooser.question} live={live} put={put} tab={tab} />}
      {live !== undefined && tab?.permission != null && (
        <Wish key={tab.permission.question} live={live} tab={tab.number} asked={tab.permission} />
      )}
      <Screen
        live={live}
        canvas={canvas}
        place={place}
        drives={drives && away == null}
        label={tab === undefined || tab.title === '' ? 'Live picture' : `Live picture of ${tab.title}`}
        isDark={away != null}
      />
      <State live={live} />
    </section>
  )
}

/** Where the one tab goes, and what stands in the way. */
function Steps({ live, ask }: { live: Live; ask: Ask }) {
  const { tabs, front, away } = live.tabs.value
  const [tab] = tabs
  const driver = live.driver.value
  if (tab === undefined) return <p class="hint">The tab that this was about is closed. Say that you cannot do it.</p>
  const { number } = tab
  return (
    <>
      {!driver.own && (
        <p class="away" role="status">
          {driver.agent == null ? 'Nobody drives.' : `${driver.agent} drives.`}{' '}
          <button type="button" onClick={() => live.say({ type: 'take_over', name: 'guest' })}>
            Take over
          </button>
        </p>
      )}
      {away != null && (
        <p class="away" role="alert">
          The page is at <b>{away}</b> now, which is not part of what was asked: {ask.sites.join(', ')}. It is not shown.
        </p>
      )}
      {away == null && front !== number && (
        <p class="away" role="status">
          Another tab is in front.{' '}
          <Button off={!driver.own} onClick={() => live.say({ type: 'front', tab: number })}>
            Show this one
          </Button>
        </p>
      )}
      <p class="acts">
        <Button off={!driver.own} onClick={() => live.say({ type: 'step', tab: number, by: -1 })}>
          Back
        </Button>
        <Button off={!driver.own} onClick={() => live.say({ type: 'step', tab: number, by: 1 })}>
          Forward
        </Button>
        <Button off={!driver.own || away != null} onClick={() => live.say({ type: 'reload', tab: number })}>
          Reload
        </Button>
      </p>
    </>
  )
}
