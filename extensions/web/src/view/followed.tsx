// A list that grows while one looks: at its end as long as the reader is there, with what was chosen beside it.

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Keyed } from '../../../shared/tab/shown.ts'
import { Windowed } from './windowed.tsx'

/** How high a row is. */
const ROW = 48
/** How far from the end counts as the end, in pixels. */
const NEAR = 8

interface Props<T> {
  items: readonly T[]
  label: string
  /** What is said where there is no row. */
  nothing: string
  row: (item: T) => ComponentChildren
}

/** The list. */
export function Following<T extends Keyed>({ items, label, nothing, row }: Props<T>) {
  const place = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    const element = place.current
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [items])
  const note = () => {
    const element = place.current
    if (element !== null) isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR
  }
  return (
    <div class="scrolls followed" ref={place} onScroll={note}>
      {items.length === 0 && <p class="nothing">{nothing}</p>}
      <Windowed items={items} keyOf={(one) => String(one.key)} row={row} size={ROW} label={label} />
    </div>
  )
}

/** What was chosen in a list, whole. It has the focus when it opens; Escape closes it, and leads back to its row. */
export function Pane({
  label,
  title,
  isBusy = false,
  acts,
  onClose,
  children,
}: {
  label: string
  title: string
  isBusy?: boolean
  acts?: ComponentChildren
  onClose: () => void
  children: ComponentChildren
}) {
  const pane = useRef<HTMLElement>(null)
  useEffect(() => pane.current?.focus({ preventScroll: true }), [])
  const leave = () => {
    const list = pane.current?.closest('[role="tabpanel"]')
    const row = list?.querySelector<HTMLElement>('.told[aria-pressed="true"]')
    // Its row may be out of sight, and so not in the page.
    const next = row ?? list?.querySelector<HTMLElement>('input')
    next?.focus()
    onClose()
  }
  return (
    <section
      ref={pane}
      class="pane"
      aria-label={label}
      aria-busy={isBusy}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without it no key scrolls it
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key === 'Escape') leave()
      }}
    >
      <div class="bar">
        <h3>{title}</h3>
        <span class="acts">
          {acts}
          <button type="button" class="quiet" onClick={leave}>
            Close
          </button>
        </span>
      </div>
      {children}
    </section>
  )
}

/** What is looked for in a list, and the way to empty it. */
export function Bar({
  text,
  setText,
  label,
  onClear,
  children,
}: {
  text: string
  setText: (text: string) => void
  label: string
  onClear: () => void
  children: ComponentChildren
}) {
  return (
    <div class="bar filter">
      <input
        type="search"
        placeholder="Filter"
        aria-label={label}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {children}
      <button type="button" class="quiet" onClick={onClear}>
        Clear
      </button>
    </div>
  )
}

/** What a list has not got, in a sentence. */
export function Missing({ text }: { text: string }) {
  return (
    <p class="hint" role="status">
      {text}
    </p>
  )
}
