// A list of any length, of which only what is on the screen is in the page.

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { inSight } from '../words/sight.ts'

interface Props<T> {
  items: readonly T[]
  keyOf: (item: T) => string
  row: (item: T, index: number) => ComponentChildren
  /** How high a row is, or how wide where the list lies on its side, in pixels. */
  size: number
  label: string
  /** How much of the page is above it at least, in pixels: of what begins below the screen nothing is drawn at first. */
  above?: number
  /** Lies on its side, and moves in itself. */
  sideways?: boolean
  class?: string
}

/** The list. Arrow keys, Home and End lead from row to row, whether they are in the page or not. */
export function Windowed<T>({ items, keyOf, row, size, label, above, sideways = false, class: name = '' }: Props<T>) {
  const list = useRef<HTMLUListElement>(null)
  // What is seen is drawn first, and what is made ahead once that stands there.
  const [[first, end], setSight] = useState<[number, number]>(() =>
    above === undefined ? [0, Math.min(items.length, 12)] : inSight(items.length, size, -above, innerHeight, 0),
  )
  const [focused, setFocused] = useState<string | undefined>(undefined)
  const wants = useRef<number | undefined>(undefined)

  useEffect(() => {
    const element = list.current
    if (element === null) return
    const scroller = sideways ? element.parentElement : undefined
    const look = () => {
      const place = element.getBoundingClientRect()
      const from = sideways ? (scroller?.getBoundingClientRect().left ?? 0) - place.left : -place.top
      const room = sideways ? (scroller?.clientWidth ?? 0) : innerHeight
      setSight((before) => {
        const now = inSight(items.length, size, from, room)
        return before[0] === now[0] && before[1] === now[1] ? before : now
      })
    }
    look()
    // What scrolls may be the page, or a part of it.
    const how = { passive: true, capture: true }
    addEventListener('scroll', look, how)
    const watch = new ResizeObserver(look)
    watch.observe(document.body)
    watch.observe(element)
    return () => {
      removeEventListener('scroll', look, how)
      watch.disconnect()
    }
  }, [items.length, size, sideways])

  const rowAt = (index: number) => list.current?.querySelector<HTMLElement>(`li[data-index="${index}"]`)
  useLayoutEffect(() => {
    if (wants.current === undefined) return
    const element = rowAt(wants.current)
    if (element == null) return
    wants.current = undefined
    element.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true })
    element.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })

  const go = (index: number) => {
    wants.current = index
    setFocused(keyOf(items[index] as T))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const at = Number((event.target as HTMLElement).closest('li')?.dataset.index)
    if (Number.isNaN(at) || event.ctrlKey || event.metaKey || event.altKey) return
    const [back, on] = sideways ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown']
    const to = { [back as string]: at - 1, [on as string]: at + 1, Home: 0, End: items.length - 1 }[event.key]
    if (to === undefined || to < 0 || to >= items.length) return
    event.preventDefault()
    go(to)
  }

  const shown = [...Array(Math.max(0, end - first)).keys()].map((index) => first + index).filter((index) => index < items.length)
  // What has the focus stays, wherever the page is scrolled to.
  const at = focused === undefined ? -1 : items.findIndex((item) => keyOf(item) === focused)
  if (at >= 0 && !shown.includes(at)) shown.push(at)
  const long = `${items.length * size}px`
  return (
    <ul
      ref={list}
      aria-label={label}
      class={`windowed ${name}`}
      style={sideways ? { width: long } : { height: long }}
      onKeyDown={onKeyDown}
      onFocusIn={(event) => {
        const item = items[Number((event.target as HTMLElement).closest('li')?.dataset.index)]
        setFocused(item === undefined ? undefined : keyOf(item))
      }}
      onFocusOut={() => setFocused(undefined)}
    >
      {shown.map((index) => {
        const item = items[index] as T
        const at = `${index * size}px`
        return (
          <li
            key={keyOf(item)}
            data-index={index}
            aria-setsize={items.length}
            aria-posinset={index + 1}
            style={sideways ? { left: at, width: `${size}px` } : { top: at, height: `${size}px` }}
          >
            {row(item, index)}
          </li>
        )
      })}
    </ul>
  )
}
