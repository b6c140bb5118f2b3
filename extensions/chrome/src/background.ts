// The service worker's beginning: listens to the browser at once, and does so in order once it has read
// what was kept.

import { answer, readQuestion } from './answers.ts'
import { Arrivals } from './arrivals.ts'
import { Listeners } from './record/listeners.ts'
import { Worker } from './worker.ts'

/** How often the browser looks whether the worker runs, in minutes. */
const ALARM_MINUTES = 0.5
const ALARM = 'wake'
/** What the manifest allows to see; what a person allowed besides is added below. */
const URLS = ['http', 'ws'].flatMap((scheme) => ['127.0.0.1', 'localhost', '*.localhost'].map((host) => `${scheme}://${host}/*`))

const worker = new Worker()
const arrivals = new Arrivals()

/** What has to wait until what was kept is read, and for nothing else. */
let waiting: (() => void)[] | undefined = []

function run(what: () => void): void {
  if (waiting === undefined) what()
  else waiting.push(what)
}

const inOrder = (what: () => void, at?: number) => arrivals.put(what, at)

const listeners = new Listeners(worker.base, inOrder, () => worker.needs())
listeners.add(URLS)
worker.changed = () => listeners.look()

chrome.webNavigation.onBeforeNavigate.addListener(({ tabId, frameId, url, timeStamp }) => {
  if (frameId === 0) inOrder(() => worker.journey.heads(tabId, url, timeStamp), timeStamp)
})
const { onCommitted, onHistoryStateUpdated, onReferenceFragmentUpdated } = chrome.webNavigation
for (const moved of [onCommitted, onHistoryStateUpdated, onReferenceFragmentUpdated]) {
  moved.addListener(({ tabId, frameId, url, timeStamp, documentId }) => {
    if (frameId === 0) inOrder(() => worker.journey.shows(tabId, url, documentId), timeStamp)
  })
}
chrome.tabs.onUpdated.addListener((tabId, _change, tab) => inOrder(() => worker.journey.updates(tabId, tab)))
chrome.tabs.onRemoved.addListener((tabId) => inOrder(() => worker.journey.closed(tabId)))

chrome.debugger.onEvent.addListener(({ tabId, sessionId }: chrome.debugger.DebuggerSession, method, params) => {
  if (tabId !== undefined) inOrder(() => worker.registry.watch(worker.registry.get(tabId))?.hear(sessionId, method, params ?? {}))
})
chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
  if (tabId !== undefined) inOrder(() => worker.journey.detached(tabId, reason))
})

chrome.alarms.onAlarm.addListener(() => run(() => worker.link.start()))
chrome.runtime.onInstalled.addListener(() => run(() => worker.link.start()))
chrome.runtime.onStartup.addListener(() => run(() => worker.link.start()))
self.addEventListener('online', () => run(() => worker.link.start()))

chrome.runtime.onMessage.addListener((message: unknown, sender, reply: (answer: unknown) => void) => {
  const isPopup = sender.id === chrome.runtime.id && sender.url === chrome.runtime.getURL('popup.html')
  const question = isPopup ? readQuestion(message) : undefined
  if (question === undefined) return false
  run(() => void answer(worker, question).then(reply))
  return true
})

/** Sites that a person allowed besides are seen as far as they are cocoons. */
async function listenElsewhere(): Promise<void> {
  const { origins = [] } = await chrome.permissions.getAll()
  const others = origins.filter((origin) => !URLS.includes(origin))
  if (others.length > 0) listeners.add(others)
}
chrome.permissions.onAdded.addListener(({ origins = [] }) => {
  if (origins.length > 0) listeners.add(origins)
})

async function begin(): Promise<void> {
  await worker.load()
  await listenElsewhere()
  const before = waiting ?? []
  waiting = undefined
  for (const one of before) one()
  worker.begin()
  await chrome.alarms.create(ALARM, { periodInMinutes: ALARM_MINUTES })
  await arrivals.ready()
  await worker.lookAgain()
  listeners.ready()
}
void begin()
