// The service worker's beginning: listens to the browser at once, and does so in order once it has read
// what was kept.

import { answer, readQuestion } from './answers.ts'
import { listenToRequests } from './record/base.ts'
import { Worker } from './worker.ts'

/** How often the browser looks whether the worker runs, in minutes. */
const ALARM_MINUTES = 0.5
const ALARM = 'wake'
/** What the manifest allows to see; what a person allowed besides is added below. */
const URLS = ['http://127.0.0.1/*', 'http://localhost/*', 'http://*.localhost/*']

const worker = new Worker()

/** What happens before everything was read waits here. */
let waiting: (() => void)[] | undefined = []

function run(what: () => void): void {
  if (waiting === undefined) what()
  else waiting.push(what)
}

listenToRequests(worker.base, URLS, run)

chrome.webNavigation.onBeforeNavigate.addListener(({ tabId, frameId, url, timeStamp }) => {
  if (frameId === 0) run(() => worker.journey.heads(tabId, url, timeStamp))
})
chrome.webNavigation.onCommitted.addListener(({ tabId, frameId, url }) => {
  if (frameId === 0) run(() => worker.journey.shows(tabId, url))
})
for (const moved of [chrome.webNavigation.onHistoryStateUpdated, chrome.webNavigation.onReferenceFragmentUpdated]) {
  moved.addListener(({ tabId, frameId, url }) => {
    if (frameId === 0) run(() => worker.journey.shows(tabId, url))
  })
}
chrome.tabs.onUpdated.addListener((tabId, _change, tab) => run(() => worker.journey.updates(tabId, tab)))
chrome.tabs.onRemoved.addListener((tabId) => run(() => worker.journey.closed(tabId)))

chrome.debugger.onEvent.addListener(({ tabId, sessionId }: chrome.debugger.DebuggerSession, method, params) => {
  if (tabId !== undefined) run(() => worker.registry.watch(worker.registry.get(tabId))?.hear(sessionId, method, params ?? {}))
})
chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
  if (tabId !== undefined) run(() => worker.journey.detached(tabId, reason))
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
  if (others.length > 0) listenToRequests(worker.base, others, run)
}
chrome.permissions.onAdded.addListener(({ origins = [] }) => {
  if (origins.length > 0) listenToRequests(worker.base, origins, run)
})

async function begin(): Promise<void> {
  await worker.load()
  await listenElsewhere()
  const before = waiting ?? []
  waiting = undefined
  for (const one of before) one()
  await chrome.alarms.create(ALARM, { periodInMinutes: ALARM_MINUTES })
  await worker.begin()
}
void begin()
