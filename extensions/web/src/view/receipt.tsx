// What a resume brought back, item by item, and how long its steps took.

import { useState } from 'preact/hooks'
import { duration } from '../../../shared/amounts.ts'
import type { Schemas } from '../node/client.ts'
import { count } from '../words/amounts.ts'
import { kindOf, outcomeOf } from '../words/sessions.ts'
import { Windowed } from './windowed.tsx'

type Item = Schemas['ReceiptItem']

/** How high an item is. */
const ROW = 60

/** The receipt. */
export function Receipt({ receipt }: { receipt: Schemas['Receipt'] }) {
  const losses = receipt.items.filter((one) => one.outcome === 'rejected' || one.outcome === 'not_portable')
  const [onlyLosses, setOnlyLosses] = useState(false)
  const items = onlyLosses ? losses : receipt.items
  const number = (amount: number, word: string, tone: string) => (
    <li class={amount > 0 ? tone : ''}>
      <b>{amount.toLocaleString('en')}</b> {word}
    </li>
  )
  return (
    <div class="receipt">
      <ul class="sums">
        {number(receipt.restored, 'restored', 'good')}
        {number(receipt.rejected, 'refused', 'bad')}
        {number(receipt.not_portable, 'not portable', 'bad')}
        {number(receipt.pending, 'pending', 'soon')}
      </ul>
      {losses.length > 0 && losses.length < receipt.items.length && (
        <label class="check">
          <input type="checkbox" checked={onlyLosses} onChange={(event) => setOnlyLosses(event.currentTarget.checked)} /> Only the{' '}
          {count(losses.length, 'item')} that did not come back
        </label>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it no key scrolls it */}
      <section class="scrolls" tabIndex={0} aria-label="Receipt, item by item">
        <Windowed items={items} keyOf={key} row={(one) => <Line item={one} />} size={ROW} label="Items of the receipt" />
      </section>
    </div>
  )
}

const key = (item: Item) => `${item.kind} ${item.where} ${item.outcome} ${item.source}`

function Line({ item }: { item: Item }) {
  const how = { page: 'seen in the page', disk: 'read back from disk', none: '' }[item.verified]
  return (
    <div class="item">
      <span class={`outcome ${item.outcome}`}>{outcomeOf(item.outcome)}</span>
      <span class="kind">{kindOf(item.kind)}</span>
      <span class="place" title={item.where}>
        {item.where}
      </span>
      <span class="why">{item.reason ?? (how === '' ? `from the ${item.source}` : `from the ${item.source}, ${how}`)}</span>
    </div>
  )
}

/** What the steps of a resume are, in the order in which they are done. */
const STEPS: Record<string, string> = {
  load: 'read the snapshot',
  keep: 'keep a copy of the profile',
  profile: 'read the profile',
  launch: 'start the browser',
  cookies: 'set the cookies',
  storage: 'fill the storage',
  tabs: 'load the tabs',
  watch: 'watch the browser',
  capture: 'capture it anew',
  total: 'in all',
}

const wordOf = (step: string): string => STEPS[step] ?? step.replaceAll('_', ' ')

/** The steps of a resume, each as long as it took. */
export function Steps({ timing }: { timing: Record<string, number> }) {
  const order = Object.keys(STEPS)
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  const steps = Object.entries(timing).toSorted(([one], [other]) => place(one) - place(other))
  const longest = Math.max(1, ...steps.map(([, ms]) => ms))
  return (
    <ul class="steps" aria-label="How long each step took">
      {steps.map(([name, ms]) => (
        <li key={name}>
          <span>{wordOf(name)}</span>
          <meter min={0} max={longest} value={ms} aria-label={wordOf(name)}>
            {duration(ms)}
          </meter>
          <span class="took">{duration(ms)}</span>
        </li>
      ))}
    </ul>
  )
}
