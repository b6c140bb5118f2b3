// The display of a sandbox, as noVNC shows it: a file of its own, which is loaded once somebody looks at one.

import RFB from '@novnc/novnc'

/** What is told of a display. */
export interface Told {
  /** Its first picture is there. */
  shown(): void
  /** It is gone, and by which word of the node (RFC 6455, section 7.1.6). */
  gone(code: number, reason: string): void
}

/** A display that is shown. */
export interface Shown {
  /** Gives it the keyboard. */
  focus(): void
  /** Takes it away again. */
  blur(): void
  /** Ends it. */
  close(): void
}

/** Shows a display in an element, which a reader of the screen calls so. */
export function show(place: HTMLElement, label: string, url: string, told: Told): Shown {
  const socket = new WebSocket(url)
  let end = { code: 1006, reason: '' }
  socket.addEventListener('close', ({ code, reason }) => {
    end = { code, reason }
  })
  const rfb = new RFB(place, socket, { shared: true })
  const canvas = place.querySelector('canvas')
  canvas?.setAttribute('role', 'application')
  canvas?.setAttribute('aria-label', label)
  rfb.scaleViewport = true
  rfb.background = 'transparent'
  rfb.addEventListener('connect', () => told.shown())
  rfb.addEventListener('disconnect', () => told.gone(end.code, end.reason))
  return { focus: () => rfb.focus(), blur: () => rfb.blur(), close: () => rfb.disconnect() }
}
