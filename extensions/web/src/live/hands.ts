// What a person does with mouse, keys and fingers, as messages for the node.

import type { Schemas } from '../node/client.ts'

export type Said = Schemas['ViewerMessage']

/** What is read of an event, whatever it is. */
interface Held {
  altKey: boolean
  ctrlKey: boolean
  metaKey: boolean
  shiftKey: boolean
}

/** The keys that are down with it: Alt 1, Ctrl 2, Meta 4, Shift 8. */
export const modifiers = ({ altKey, ctrlKey, metaKey, shiftKey }: Held): number =>
  (altKey ? 1 : 0) | (ctrlKey ? 2 : 0) | (metaKey ? 4 : 0) | (shiftKey ? 8 : 0)

/** What a key is to the picture. */
export type KeyUse = 'sent' | 'composed' | 'pasted' | 'leaves'

/** The key that leaves the picture, as it leaves a part of a window elsewhere. */
export const LEAVES = 'F6'

/** The numbers of V and Insert, which stay what they are where a keyboard writes no Latin letters. */
const V = 86
const INSERT = 45

/** What is done with a key: input methods, dead keys and the keyboards of phones make text of it, and what is pasted
 * comes as text. */
export function useOf(event: Held & { key: string; isComposing: boolean; keyCode?: number }): KeyUse {
  if (event.key === LEAVES) return 'leaves'
  if (event.isComposing || event.keyCode === 229 || ['Dead', 'Process', 'Unidentified', 'Compose'].includes(event.key))
    return 'composed'
  const command = event.ctrlKey !== event.metaKey && !event.altKey
  if (command && (event.key.toLowerCase() === 'v' || event.keyCode === V)) return 'pasted'
  if (event.shiftKey && (event.key === 'Insert' || event.keyCode === INSERT)) return 'pasted'
  return 'sent'
}

/** A key that went down or up. */
export function keyOf(tab: number, event: KeyboardEvent, down: boolean): Said {
  // Alt Gr says Ctrl and Alt on some machines, and writes a letter all the same.
  const writes = event.getModifierState('AltGraph') && [...event.key].length === 1
  return {
    type: 'key',
    tab,
    down,
    again: event.repeat,
    key: event.key,
    code: event.code,
    number: event.keyCode,
    location: event.location,
    modifiers: writes ? modifiers(event) & 8 : modifiers(event),
  }
}

/** A place in a viewport, of one on the screen. */
export function placeIn(
  at: { clientX: number; clientY: number },
  box: { left: number; top: number; width: number; height: number },
  viewport: { width: number; height: number },
): { x: number; y: number } {
  const x = ((at.clientX - box.left) * viewport.width) / Math.max(1, box.width)
  const y = ((at.clientY - box.top) * viewport.height) / Math.max(1, box.height)
  return { x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 }
}

/** A line and a page of a wheel, in CSS pixels. */
const LINE = 40
const PAGE = 800

/** How far a wheel was turned, in CSS pixels. */
export function turned(event: { deltaX: number; deltaY: number; deltaMode: number }): { right: number; down: number } {
  const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? PAGE : 1
  return { right: event.deltaX * unit, down: event.deltaY * unit }
}

/** An address as a person types it. */
export function addressOf(typed: string): string {
  const text = typed.trim()
  if (/^[a-z][a-z0-9+.-]*:(?!\d+(\/|$))/i.test(text)) return text
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/i.test(text)
  return `${isHere ? 'http' : 'https'}://${text}`
}

/** A name that an agent may have, of any other. */
export const nameOf = (text: string): string => text.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64) || 'person'
