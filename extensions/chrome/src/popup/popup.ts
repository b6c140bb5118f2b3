// The popup: shows how things are, and asks the worker to change them. What pages say is text, never markup.

import { originOf, permissionFor } from '../link/address.ts'
import type { Answer, Question, Status, TabStatus } from '../status.ts'
import { linkWords, tabWords } from './words.ts'

/** How often it is looked at how things are, in milliseconds. */
const LOOK_MS = 1_000

function at<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`expected an element ${id}, found none`)
  return found as T
}

const error = at('error')
const address = at<HTMLInputElement>('address')
const code = at<HTMLInputElement>('code')
const node = at<HTMLInputElement>('node')
const body = at<HTMLInputElement>('body')
const rows = new Map<number, HTMLElement>()

/** Asks, and shows the answer. */
async function ask(question: Question): Promise<boolean> {
  const answer: Answer | undefined = await chrome.runtime.sendMessage<Question, Answer>(question).catch(() => undefined)
  if (answer === undefined) return false
  if ('error' in answer) {
    fail(answer.error)
    return false
  }
  if (question.ask !== 'status') error.hidden = true
  show(answer.status)
  return true
}

function fail(why: string): void {
  error.textContent = why
  error.hidden = false
}

function show(status: Status): void {
  const { text, mood } = linkWords(status)
  put(at('status'), text)
  at('status').className = mood
  const isPaired = status.link.state !== 'unpaired' && status.link.state !== 'pair_again'
  at('pairing').hidden = isPaired
  at('looking').hidden = !isPaired
  at('more').hidden = !isPaired
  for (const input of [address, node]) fill(input, status.address)
  fill(body, String(status.bodyBytes))
  at('none').hidden = status.tabs.length > 0
  const list = at('tabs')
  for (const [tabId, row] of rows) {
    if (status.tabs.some((tab) => tab.tabId === tabId)) continue
    row.remove()
    rows.delete(tabId)
  }
  for (const tab of status.tabs) showTab(list, tab)
}

function showTab(list: HTMLElement, tab: TabStatus): void {
  const row = rows.get(tab.tabId) ?? newRow(list, tab.tabId)
  const part = (name: string) => row.querySelector(`.${name}`) as HTMLElement
  put(part('title'), tab.title)
  part('title').title = tab.title
  put(part('facts'), tabWords(tab))
  put(part('toggle'), tab.state === 'paused' ? 'Resume' : 'Pause')
  part('toggle').hidden = tab.state === 'no_token'
  put(part('secrets'), tab.secrets === 'hidden' ? 'Send secrets too' : 'Hide secrets')
  part('secrets').hidden = tab.state !== 'looking' && tab.secrets === 'hidden'
  part('reload').hidden = tab.state === 'paused' || (tab.state === 'looking' && !tab.firstLoad)
}

function newRow(list: HTMLElement, tabId: number): HTMLElement {
  const row = (at<HTMLTemplateElement>('tab').content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement
  const toggle = row.querySelector('.toggle') as HTMLElement
  toggle.addEventListener('click', () => void ask({ ask: toggle.textContent === 'Resume' ? 'resume' : 'pause', tabId }))
  const secrets = row.querySelector('.secrets') as HTMLElement
  secrets.addEventListener('click', () => void ask({ ask: secrets.textContent === 'Hide secrets' ? 'hide' : 'reveal', tabId }))
  row.querySelector('.reload')?.addEventListener('click', () => void ask({ ask: 'reload', tabId }))
  rows.set(tabId, row)
  list.append(row)
  return row
}

/** Changes a text only where it is another one, so that what is selected stays. */
function put(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Fills a field in, unless a person has. */
function fill(input: HTMLInputElement, value: string): void {
  if (document.activeElement === input || input.dataset['typed'] !== undefined) return
  input.value = value
}
for (const input of [address, node, body]) input.addEventListener('input', () => (input.dataset['typed'] = 'yes'))

/** Asks the person for what the browser wants to be asked for; only in a click is that allowed. */
async function mayReach(typed: string): Promise<boolean> {
  const wanted = permissionFor(originOf(typed))
  return wanted === undefined || chrome.permissions.request({ origins: [wanted] })
}

async function withAccess(typed: string, question: Question): Promise<void> {
  error.hidden = true
  try {
    if (!(await mayReach(typed))) fail('The browser was not allowed to reach the node at this address.')
    else if (await ask(question)) for (const input of [address, node, body]) delete input.dataset['typed']
  } catch (why) {
    fail(why instanceof Error ? why.message : String(why))
  }
}

at('pairing').addEventListener('submit', (event) => {
  event.preventDefault()
  void withAccess(address.value, { ask: 'pair', address: address.value, code: code.value }).then(() => (code.value = ''))
})
at('settings').addEventListener('submit', (event) => {
  event.preventDefault()
  void withAccess(node.value, { ask: 'settings', address: node.value, bodyBytes: Number(body.value) })
})
at('unpair').addEventListener('click', () => void ask({ ask: 'unpair' }))

void ask({ ask: 'status' })
setInterval(() => void ask({ ask: 'status' }), LOOK_MS)
