// How things are, in words for people.

import type { Status, TabStatus } from '../status.ts'

/** The status of the connection, and whether it is good, bad, or neither. */
export function linkWords({ link, now }: Status): { text: string; mood: 'good' | 'bad' | '' } {
  switch (link.state) {
    case 'unpaired':
      return { text: 'Not paired', mood: '' }
    case 'pair_again':
      return { text: link.why, mood: 'bad' }
    case 'connecting':
      return { text: 'Connecting…', mood: '' }
    case 'connected':
      return { text: `Connected since ${new Date(link.since).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}`, mood: 'good' }
    case 'waiting':
      return { text: `Not connected: ${link.why}\nReconnecting in ${Math.max(0, Math.ceil((link.until - now) / 1000))} s`, mood: 'bad' }
  }
}

/** What is to be said of a tab. */
export function tabWords(tab: TabStatus): string {
  const lines = [tab.cocoon]
  if (tab.state === 'no_token') lines.push('Not looked at: the page came without a token.')
  else lines.push(`${count(tab.sent, 'event')} sent${tab.waiting > 0 ? `, ${tab.waiting} waiting` : ''}`)
  if (tab.secrets === 'told') lines.push('Secrets of this tab are sent too.')
  else if (tab.secrets === 'asked') lines.push('Secrets are hidden until the node says that it takes them.')
  if (tab.dropped > 0) lines.push(`${count(tab.dropped, 'event')} lost: the node did not take them in time, or too much was open at once`)
  if (tab.refusal !== undefined) lines.push(`The node does not take it now: ${tab.refusal}`)
  if (tab.failure !== undefined) lines.push(`The debugger could not be attached: ${tab.failure}`)
  else if (tab.state === 'paused') lines.push('Paused')
  else if (tab.state === 'looking' && tab.firstLoad) lines.push('The beginning of this page was missed.')
  return lines.join('\n')
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
