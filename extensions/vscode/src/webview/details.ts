// All of one request, beside the list.

import type { Details, Fact, Section } from '../../../shared/tab/details.ts'
import { byId, element } from './dom.ts'

/** What can be done there. */
export interface Ways {
  copy(key: number): void
  close(key: number): void
}

/** The place for the details of a request. */
export class DetailsPlace {
  private readonly place = byId('details', HTMLElement)
  private current: number | undefined

  constructor(private readonly ways: Ways) {
    this.place.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close()
    })
  }

  /** The request that is looked at. */
  get key(): number | undefined {
    return this.current
  }

  /** Waits for the details of a request. */
  expect(key: number): void {
    this.current = key
  }

  /** Shows them, unless something else is looked at by now. */
  show(details: Details): void {
    if (details.key !== this.current) return
    const wasShown = !this.place.hidden
    const { scrollTop } = this.place
    this.place.hidden = false
    this.place.replaceChildren(this.bar(details.key), factList(details.facts), ...details.sections.map(sectionOf))
    if (wasShown) this.place.scrollTop = scrollTop
    else this.place.focus()
  }

  close(): void {
    if (this.current === undefined) return
    const key = this.current
    this.current = undefined
    this.place.hidden = true
    this.place.replaceChildren()
    this.ways.close(key)
  }

  private bar(key: number): HTMLElement {
    const button = (text: string, act: () => void) => {
      const made = element('button', '', text)
      made.type = 'button'
      made.addEventListener('click', act)
      return made
    }
    return element(
      'div',
      'bar',
      element('h3', '', `Request ${key}`),
      button('Copy the Address', () => this.ways.copy(key)),
      button('Close', () => this.close()),
    )
  }
}

function sectionOf({ title, facts, text }: Section): HTMLElement {
  const content = facts.length > 0 ? factList(facts) : element('pre', '', text)
  return element('section', '', element('h4', '', title), content)
}

function factList(facts: Fact[]): HTMLElement {
  return element('dl', '', ...facts.flatMap(({ name, value }) => [element('dt', '', name), element('dd', '', value)]))
}
