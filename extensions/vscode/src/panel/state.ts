// How it stands with a tab, in a line: what happened, and what to do.

import type { Failure } from '../node/failure.ts'
import type { Schemas } from '../node/node.ts'
import { type Remedy, remedy, remedyOf } from '../words/remedy.ts'
import type { Shown, State } from './messages.ts'

/** A state, and what its button runs. */
export interface Standing extends Omit<State, 'remedy'> {
  remedy: Remedy | undefined
}

const ANOTHER = remedy('Look Into Another Tab', 'baton.showTab')

/** Nobody has chosen a tab. */
export const NO_TAB: Standing = {
  tone: 'quiet',
  text: 'No tab is looked into. Choose one here, or click it in the tree of Baton',
  remedy: remedy('Look Into a Tab', 'baton.showTab'),
}

/** Before the first answer. */
export const BEGINNING: Standing = { tone: 'quiet', text: 'Asking the node', remedy: undefined }

/** As long as the node answers. */
export function answered(tab: Schemas['DebugTab']): Standing {
  if (tab.offline !== true) return { tone: 'live', text: 'Live', remedy: undefined }
  return { tone: 'quiet', text: 'Its browser is not connected: nothing comes until it is back', remedy: undefined }
}

/** Once it does not. */
export function failed(failure: Failure): Standing {
  if (failure.code === 'tab_gone') {
    const text = 'This tab is gone: it was closed, or is no longer recorded. What it told is kept here until another one is shown'
    return { tone: 'bad', text, remedy: ANOTHER }
  }
  if (failure.code === 'forbidden') {
    const text = `The key may not look into tabs: ${failure.message}. What to do: set one with the scope debug`
    return { tone: 'bad', text, remedy: remedy('Set the Key', 'baton.setKey') }
  }
  return { tone: 'bad', text: `Nothing comes: ${failure.text}`, remedy: remedyOf(failure) }
}

/** What the page shows of it. */
export function shown(tab: Schemas['DebugTab'] | undefined, { tone, text, remedy }: Standing): Shown {
  return {
    title: tab === undefined ? '' : tab.title || tab.url,
    address: tab?.url ?? '',
    of: tab?.cocoon_name ?? tab?.cocoon_id ?? '',
    state: { tone, text, remedy: remedy?.title ?? '' },
  }
}
