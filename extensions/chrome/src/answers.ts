// The popup's questions, and what it is answered.

import { checkSignalingUrl, originOf } from './link/address.ts'
import { isRecord } from './protocol.ts'
import type { Answer, Question, Status, TabStatus } from './status.ts'
import { bodySize, saveSettings } from './store/settings.ts'
import type { Tab } from './tabs/tab.ts'
import type { Watch } from './tabs/watch.ts'
import type { Worker } from './worker.ts'

/** The question, if it is one of ours. */
export function readQuestion(message: unknown): Question | undefined {
  if (!isRecord(message)) return undefined
  const { ask, address, code, tabId, bodyBytes } = message
  switch (ask) {
    case 'status':
    case 'unpair':
      return { ask }
    case 'pair':
      return typeof address === 'string' && typeof code === 'string' ? { ask, address, code } : undefined
    case 'settings':
      return typeof address === 'string' && typeof bodyBytes === 'number' ? { ask, address, bodyBytes } : undefined
    case 'pause':
    case 'resume':
    case 'reload':
    case 'reveal':
    case 'hide':
      return typeof tabId === 'number' ? { ask, tabId } : undefined
    default:
      return undefined
  }
}

/** Does what is asked, and says how things are then. */
export async function answer(worker: Worker, question: Question): Promise<Answer> {
  try {
    await act(worker, question)
    return { status: statusOf(worker) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

async function act(worker: Worker, question: Question): Promise<void> {
  switch (question.ask) {
    case 'status':
      return
    case 'pair':
      return worker.pair(question.address, question.code)
    case 'unpair':
      return worker.unpair()
    case 'pause':
      return worker.journey.pause(question.tabId)
    case 'resume':
      return worker.journey.resume(question.tabId)
    case 'reload':
      return chrome.tabs.reload(question.tabId)
    case 'reveal':
    case 'hide':
      return worker.journey.reveal(question.tabId, question.ask === 'reveal')
    case 'settings':
      return change(worker, question.address, question.bodyBytes)
  }
}

/** Another address of the same node: the key stays, and the connection is made anew. */
async function change(worker: Worker, address: string, bodyBytes: number): Promise<void> {
  const { settings } = worker
  const before = new URL(settings.signaling_url)
  const origin = originOf(address)
  const isOther = origin !== originOf(settings.signaling_url)
  if (isOther) settings.signaling_url = checkSignalingUrl(origin.replace(/^http/, 'ws') + before.pathname + before.search)
  settings.response_body_max_size = bodySize(bodyBytes)
  await saveSettings(settings)
  if (isOther && settings.key !== undefined) worker.link.restart()
}

function statusOf(worker: Worker): Status {
  const { settings, link, registry } = worker
  return {
    link: link.state,
    now: Date.now(),
    address: originOf(settings.signaling_url),
    bodyBytes: settings.response_body_max_size,
    tabs: registry.open().map((tab) => tabStatus(tab, registry.watch(tab))),
  }
}

function tabStatus(tab: Tab, watch: Watch | undefined): TabStatus {
  const { tabId, title, url, cocoon, isPaused, firstLoad, reveals } = tab.note
  const hasToken = tab.grant() !== undefined || tab.isAccepted
  const { sent, last, dropped } = tab.ring
  return {
    tabId,
    title: title === '' ? url : title,
    cocoon: cocoon.name ?? cocoon.id,
    state: isPaused ? 'paused' : hasToken ? 'looking' : 'no_token',
    ...(watch?.failure !== undefined && { failure: watch.failure }),
    ...(tab.refusal !== undefined && { refusal: tab.refusal }),
    sent,
    waiting: Math.max(0, last - sent),
    dropped,
    firstLoad,
    secrets: reveals !== true ? 'hidden' : tab.isRevealed ? 'told' : 'asked',
  }
}
