// Keeps the place of who uses keys. What has the focus may leave the page, for what it stood for is another one now:
// a browser leaves the focus nowhere then, and the next step leads to the top of the page.

/** What can have the focus by a step. */
const TAKES = 'a[href], button, input, select, textarea'
/** What a text goes into. */
const FIELD = 'textarea, input:not([type="checkbox"], [type="radio"], [type="file"])'

/** Follows the focus in a page, and puts it near by where what had it is gone. */
export function keepFocus(page: HTMLElement): void {
  /** What has the focus, or had it when it left the page, and all that it is in, from the inside out. */
  let chain: HTMLElement[] = []
  let isShown = false

  page.addEventListener('focusin', ({ target }) => {
    const element = target as HTMLElement
    chain = chainOf(element)
    isShown = element.matches(':focus-visible')
  })
  // Whoever presses keys goes on by keys, wherever a mouse has put the focus before.
  page.addEventListener('keydown', () => (isShown = true), { capture: true })
  page.addEventListener('pointerdown', () => (isShown = false), { capture: true })
  page.addEventListener('focusout', () =>
    // Some browsers tell of an element that leaves the page, too; who clicks beside everything wants no focus.
    queueMicrotask(() => {
      if (chain[0]?.isConnected === true && isNowhere() && document.hasFocus()) chain = []
    }),
  )
  new MutationObserver((changes) => {
    const [had] = chain
    if (had === undefined || had.isConnected || !isNowhere()) return
    // What somebody goes on to write is for no other field, and presses no button: it may be a password. And only who sees
    // where the focus is wants it near by. Without a place it is looked for with the next change.
    const writes = had.matches(FIELD)
    const place = isShown && !writes ? near(page, chain, changes) : page.querySelector('h1')
    place?.focus({ preventScroll: !isShown || writes })
  }).observe(page, { childList: true, subtree: true })
}

const isNowhere = (): boolean => document.activeElement === null || document.activeElement === document.body

function chainOf(element: HTMLElement): HTMLElement[] {
  const chain = []
  for (let at: HTMLElement | null = element; at !== null; at = at.parentElement) chain.push(at)
  return chain
}

/** What takes the focus in the place of something that is gone. */
function near(page: HTMLElement, chain: readonly HTMLElement[], changes: readonly MutationRecord[]): HTMLElement | null {
  // The same thing may be elsewhere now, as a session that was closed is.
  for (const { dataset } of chain) {
    const same = dataset.thing === undefined ? null : page.querySelector(`[data-thing="${CSS.escape(dataset.thing)}"]`)
    const within = same === null ? undefined : firstIn(same)
    if (within !== undefined) return within
  }
  const gone = chain.findLast((one) => !one.isConnected)
  if (gone instanceof HTMLLIElement) {
    const change = changes.find(({ removedNodes }) => [...removedNodes].includes(gone))
    for (const beside of [change?.nextSibling, change?.previousSibling]) {
      const within = beside instanceof HTMLLIElement && beside.isConnected ? firstIn(beside) : undefined
      if (within !== undefined) return within
    }
  }
  for (const around of chain.filter((one) => one.isConnected)) {
    if (around.tagName === 'MAIN' || around.querySelector('main') !== null) break
    const within = firstIn(around)
    if (within !== undefined) return within
  }
  return page.querySelector('h1')
}

/** What of a place takes the focus: what says that it rests there, or the first that can. */
function firstIn(place: Element): HTMLElement | undefined {
  const all = [...place.querySelectorAll<HTMLElement>('[data-rests]'), ...place.querySelectorAll<HTMLElement>(TAKES)]
  return all.find((one) => one.tabIndex >= 0 && !one.matches(':disabled') && one.checkVisibility())
}
