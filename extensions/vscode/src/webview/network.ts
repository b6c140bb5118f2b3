// The network: requests with a text that they must have; the chosen one is told.
//
// One row can be reached by the tabulator, the arrows go on from there.

import { fitsRequest } from '../../../shared/tab/filter.ts'
import type { Change } from '../../../shared/tab/list.ts'
import { nameAndHost, type Request } from '../../../shared/tab/shown.ts'
import { byId, element } from './dom.ts'
import { Rows } from './rows.ts'

/** The requests of the page. */
export class Network {
  private readonly place = byId('requests', HTMLElement)
  private readonly text = byId('request-filter', HTMLInputElement)
  private readonly rows: Rows<Request>

  constructor(
    text: string,
    filtered: (text: string) => void,
    private readonly choose: (key: number) => void,
  ) {
    this.text.value = text
    const missing = byId('requests-missing', HTMLElement)
    this.rows = new Rows<Request>(this.place, missing, requestRow, (request) => fitsRequest(request, this.text.value))
    this.text.addEventListener('input', () => {
      this.rows.filter()
      this.oneReachable()
      filtered(this.text.value)
    })
    this.place.addEventListener('click', (event) => this.open(rowOf(event.target)))
    this.place.addEventListener('keydown', (event) => this.key(event))
  }

  take(change: Change<Request>): void {
    this.rows.take(change)
    this.oneReachable()
  }

  /** Marks the chosen one, or none. */
  mark(key: number | undefined): void {
    for (const row of this.all()) row.setAttribute('aria-selected', String(Number(row.dataset.key) === key))
  }

  /** Gives the focus back to the row that was looked into. */
  focus(key: number): void {
    this.all()
      .find((row) => Number(row.dataset.key) === key)
      ?.focus()
  }

  private key(event: KeyboardEvent): void {
    const row = rowOf(event.target)
    if (row === undefined) return
    if (event.key === 'Enter' || event.key === ' ') this.open(row)
    else {
      const shown = this.all().filter((one) => !one.hidden)
      const at = shown.indexOf(row)
      const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }
      const next = shown[steps[event.key] ?? -1]
      if (next === undefined) return
      this.reach(next)
      next.focus()
    }
    event.preventDefault()
  }

  private open(row: HTMLElement | undefined): void {
    if (row === undefined) return
    this.reach(row)
    this.choose(Number(row.dataset.key))
  }

  private reach(row: HTMLElement): void {
    for (const one of this.place.querySelectorAll<HTMLElement>('[tabindex="0"]')) one.tabIndex = -1
    row.tabIndex = 0
  }

  private oneReachable(): void {
    const shown = this.all().filter((row) => !row.hidden)
    if (shown[0] !== undefined && !shown.some((row) => row.tabIndex === 0)) this.reach(shown[0])
  }

  private all(): HTMLElement[] {
    return [...this.place.children].filter((row) => row instanceof HTMLElement)
  }
}

function rowOf(target: EventTarget | null): HTMLElement | undefined {
  return (target instanceof Element ? target.closest<HTMLElement>('[role="option"]') : undefined) ?? undefined
}

function requestRow(request: Request): HTMLElement {
  const [name, host] = nameAndHost(request.address)
  const cells: [string, string][] = [
    ['method', request.method],
    ['text', name],
    ['host', host],
    ...(['status', 'type', 'duration', 'size'] as const).map((cell): [string, string] => [cell, request[cell]]),
  ]
  const row = element('div', `request ${request.end}`, ...cells.map(([cell, text]) => element('span', cell, text)))
  row.title = request.address
  row.setAttribute('role', 'option')
  row.setAttribute('aria-selected', 'false')
  row.tabIndex = -1
  return row
}
