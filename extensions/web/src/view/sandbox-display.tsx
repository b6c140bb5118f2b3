// The display of a sandbox: shown while somebody looks, and theirs to use.
//
// Its keyboard is taken by a click or a key of its own, and given back by Escape twice, so that nobody is held in it.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Shown } from '../display/display.ts'
import { loadDisplays } from '../display/load.ts'
import { heard, node } from '../hub.ts'
import { ask } from '../node/client.ts'
import { Failure, failureOf } from '../node/failure.ts'
import { Button, Trouble } from './parts.tsx'

type Standing = { is: 'coming' } | { is: 'shown' } | { is: 'gone'; why: string } | { is: 'failed'; why: Failure }

/** How soon Escape has to follow Escape. */
const TWICE_MS = 600

/** The view. */
export function DisplayView({ id, name }: { id: string; name: string }) {
  const place = useRef<HTMLDivElement>(null)
  const after = useRef<HTMLButtonElement>(null)
  const shown = useRef<Shown | undefined>(undefined)
  const [standing, setStanding] = useState<Standing>({ is: 'coming' })
  const [tries, setTries] = useState(0)

  useEffect(() => {
    let isOver = false
    const open = async () => {
      const element = place.current
      if (element === null || document.hidden) return
      setStanding({ is: 'coming' })
      try {
        const displays = await loadDisplays().catch(() => {
          throw new Failure('unreachable', 'what shows displays could not be loaded')
        })
        const access = await ask(node().api.POST('/api/sandboxes/{id}/display', { params: { path: { id } } }))
        if (isOver || document.hidden || shown.current !== undefined) return
        const label = `Display of ${name}. Escape, twice, leaves it.`
        const display = displays.show(element, label, access.displayUrl, {
          shown: () => shown.current === display && setStanding({ is: 'shown' }),
          gone: (_, reason) => {
            // One that was put away is no news, and another one may be shown by then.
            if (shown.current !== display) return
            shown.current = undefined
            setStanding({ is: 'gone', why: reason || 'the node does not answer' })
          },
        })
        shown.current = display
      } catch (error) {
        if (!isOver) setStanding({ is: 'failed', why: error instanceof Failure ? heard(error) : failureOf(error) })
      }
    }
    const putAway = () => {
      const display = shown.current
      shown.current = undefined
      display?.close()
    }
    // Nobody looks: nothing is shown.
    const look = () => {
      if (!document.hidden) void open()
      else if (shown.current !== undefined) {
        putAway()
        setStanding({ is: 'coming' })
      }
    }
    void open()
    document.addEventListener('visibilitychange', look)
    return () => {
      isOver = true
      document.removeEventListener('visibilitychange', look)
      putAway()
    }
  }, [id, name, tries])

  useEffect(() => {
    const element = place.current
    if (element === null) return
    let last = 0
    const out = (event: KeyboardEvent) => {
      // One that is held comes again by itself.
      if (event.key !== 'Escape' || event.repeat) return
      if (event.timeStamp - last < TWICE_MS) {
        // It comes up elsewhere: there it would be held for ever.
        event.stopPropagation()
        shown.current?.blur()
        after.current?.focus()
      }
      last = event.timeStamp
    }
    element.addEventListener('keydown', out, true)
    return () => element.removeEventListener('keydown', out, true)
  }, [])

  return (
    <section class="display" aria-labelledby="display">
      <h2 id="display">Display</h2>
      <p class="acts">
        <Button class="primary" off={standing.is !== 'shown'} onClick={() => shown.current?.focus()}>
          Use the keyboard there
        </Button>
        <span class="hint">Escape, twice, leads back here. That you look is in the audit log.</span>
      </p>
      {standing.is === 'failed' && <Trouble failure={standing.why} />}
      <div class="rfb" ref={place} data-standing={standing.is} />
      <p class="acts" role="status">
        {standing.is === 'coming' && 'Asking for the display …'}
        {standing.is === 'shown' && `The display of ${name} is shown.`}
        {standing.is === 'gone' && `The display is gone: ${standing.why}.`}
      </p>
      <p class="acts">
        <Button ref={after} off={standing.is === 'coming'} onClick={() => setTries(tries + 1)}>
          Show it anew
        </Button>
      </p>
    </section>
  )
}
