// The page of the panel: what the extension tells is shown, and what a person does is asked of it.

import { LEVELS } from '../../../shared/tab/shown.ts'
import { type Asked, type Name, readTold, type Shown } from '../panel/messages.ts'
import { type ConsoleChoice, showConsole } from './console.ts'
import { DetailsPlace } from './details.ts'
import { byId, showText } from './dom.ts'
import { Network } from './network.ts'

/** What VS Code gives to a page. */
declare function acquireVsCodeApi(): {
  postMessage(message: Asked): void
  getState(): unknown
  setState(state: Choice): void
}

/** What a person chose here; it outlives the page. */
interface Choice {
  console: ConsoleChoice
  network: string
  shown: Name
}

const code = acquireVsCodeApi()
const ask = (asked: Asked) => code.postMessage(asked)
let choice = readChoice(code.getState())
const choose = (changed: Partial<Choice>) => {
  choice = { ...choice, ...changed }
  code.setState(choice)
}

const takeLines = showConsole(choice.console, (console) => choose({ console }))
const details = new DetailsPlace({
  copy: (key) => ask({ ask: 'copy', key }),
  close: (key) => {
    network.mark(undefined)
    network.focus(key)
  },
})
const network = new Network(
  choice.network,
  (network) => choose({ network }),
  (key) => {
    details.expect(key)
    network.mark(key)
    ask({ ask: 'details', key })
  },
)

window.addEventListener('message', ({ data, origin }: MessageEvent<unknown>) => {
  const told = origin === window.origin ? readTold(data) : undefined
  if (told?.tell === 'tab') showTab(told.tab)
  if (told?.tell === 'console') takeLines(told.change)
  if (told?.tell === 'details') details.show(told.details)
  if (told?.tell !== 'network') return
  if (told.change.anew) details.close()
  network.take(told.change)
  // What is looked at may have come to its end.
  const { key } = details
  if (key !== undefined && told.change.put.some((request) => request.key === key)) ask({ ask: 'details', key })
})

for (const list of ['console', 'network'] as const) {
  byId(`clear-${list}`, HTMLButtonElement).addEventListener('click', () => {
    if (list === 'network') details.close()
    ask({ ask: 'clear', list })
  })
  const tab = byId(`to-${list}`, HTMLButtonElement)
  tab.addEventListener('click', () => showList(list))
  tab.addEventListener('keydown', ({ key }) => {
    if (key !== 'ArrowLeft' && key !== 'ArrowRight') return
    const other = list === 'console' ? 'network' : 'console'
    showList(other)
    byId(`to-${other}`, HTMLButtonElement).focus()
  })
}
byId('remedy', HTMLButtonElement).addEventListener('click', () => ask({ ask: 'remedy' }))
showList(choice.shown)
ask({ ask: 'ready' })

function showTab({ title, address, of, state }: Shown): void {
  byId('title', HTMLElement).textContent = title
  byId('of', HTMLElement).textContent = of
  byId('address', HTMLElement).textContent = address
  byId('state', HTMLElement).className = state.tone
  showText(byId('text', HTMLElement), state.text)
  showText(byId('remedy', HTMLButtonElement), state.remedy)
  document.body.classList.toggle('without-tab', title === '' && address === '')
}

/** Where there is no room for both lists, one of them is shown. */
function showList(list: Name): void {
  document.querySelector('main')?.setAttribute('data-shown', list)
  for (const name of ['console', 'network']) {
    const tab = byId(`to-${name}`, HTMLButtonElement)
    tab.setAttribute('aria-selected', String(name === list))
    tab.tabIndex = name === list ? 0 : -1
  }
  choose({ shown: list })
}

/** What was chosen before, as far as it makes sense. */
function readChoice(found: unknown): Choice {
  const { console, network, shown } = (found ?? {}) as Partial<Record<keyof Choice, unknown>>
  const { text, level } = (console ?? {}) as Partial<Record<keyof ConsoleChoice, unknown>>
  return {
    console: {
      text: typeof text === 'string' ? text : '',
      level: LEVELS.find((name) => name === level) ?? 'debug',
    },
    network: typeof network === 'string' ? network : '',
    shown: shown === 'network' ? 'network' : 'console',
  }
}
