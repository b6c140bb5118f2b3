// The badge on the icon: nothing, how many tabs are looked at, or that something is wrong.

import type { LinkState } from './link/link.ts'

let shown: string | undefined

/** Shows how things are. */
export function showBadge(isPaired: boolean, link: LinkState['state'], tabs: number): void {
  const isWrong = isPaired && link !== 'connected'
  const text = isWrong ? '!' : tabs > 0 ? String(tabs) : ''
  if (text === shown) return
  shown = text
  void chrome.action.setBadgeText({ text })
  void chrome.action.setBadgeBackgroundColor({ color: isWrong ? '#b3261e' : '#1a5fb4' })
}
