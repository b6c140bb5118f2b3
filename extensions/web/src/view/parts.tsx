// Small things that many views show.

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { icons, pictures } from '../asked.ts'
import { writes } from '../hub.ts'
import type { Failure } from '../node/failure.ts'
import { type State, wordOf } from '../words/sessions.ts'

/** Where a session stands, by word and colour. */
export function Badge({ state }: { state: State }) {
  return <span class={`badge ${state}`}>{wordOf(state)}</span>
}

/** The picture of a session, or of one of its snapshots. */
export function Picture({ id, snapshot, alt }: { id: string; snapshot?: string; alt: string }) {
  const key = snapshot === undefined ? id : `${id}/${snapshot}`
  // A snapshot is never changed.
  const asked = pictures.use(key, () => (snapshot === undefined ? writes.stamp(id) : 'once')).value
  const [broken, setBroken] = useState('')
  if (asked.value === undefined || asked.value === '' || broken === asked.value)
    return <span class={asked.busy ? 'picture waits' : 'picture none'} role="img" aria-label={`No picture: ${alt}`} />
  const url = asked.value
  return <img class="picture" src={url} alt={alt} loading="lazy" decoding="async" onError={() => setBroken(url)} />
}

/** The icon of the site that a session shows. */
export function Icon({ id }: { id: string }) {
  const url = icons.use(id, () => writes.stamp(id)).value.value
  return url === undefined || url === '' ? <span class="site-icon none" /> : <img class="site-icon" src={url} alt="" />
}

/** A button that is out of use while `off` holds. It is never `disabled`: it would lose the focus, and who uses keys their
 * place. */
export function Button({ off, onClick, ...rest }: Omit<JSX.IntrinsicElements['button'], 'disabled'> & { off: boolean }) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={off}
      onClick={(event) => {
        // A key in a form comes this way, too.
        if (off) event.preventDefault()
        else onClick?.(event)
      }}
    />
  )
}

/** Why something was not done, and what to do about it. */
export function Trouble({ failure, children }: { failure: Failure; children?: ComponentChildren }) {
  return (
    <div class="trouble" role="alert">
      <p>{sentence(failure.message)}</p>
      {failure.hint !== undefined && <p class="hint">{sentence(failure.hint)}</p>}
      {children}
    </div>
  )
}

/** A text of the node as a sentence; one that begins with a command stays as it is typed. */
export const sentence = (text: string): string =>
  text.startsWith('baton ') ? text : text.charAt(0).toUpperCase() + text.slice(1)

/** Seconds that count up while something is under way. */
export function Elapsed({ since }: { since: number }) {
  const [seconds, setSeconds] = useState(Math.floor((Date.now() - since) / 1000))
  useEffect(() => {
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - since) / 1000)), 1000)
    return () => clearInterval(timer)
  }, [since])
  return <span class="elapsed">{seconds} s</span>
}

/** A window over the page, which takes the keys until it is closed. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const window = dialog.current
    window?.showModal()
    // Closed before it leaves the page: the focus goes back to where it was, and not nowhere.
    return () => window?.close()
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  )
}
