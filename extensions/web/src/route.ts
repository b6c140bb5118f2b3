// Which part of the page is shown: it stands behind `#`, which no server sees.

import { signal } from '@preact/signals'

export type Route =
  | { at: 'sessions' }
  | { at: 'session'; id: string }
  | { at: 'sandboxes'; id: string | undefined }
  | { at: 'asked'; secret: string | undefined }

/** What an address shows. */
export function routeOf(hash: string): Route {
  const asked = /^#\/asked(?:\/([A-Za-z0-9_-]{16,64}))?$/.exec(hash)
  if (asked !== null) return { at: 'asked', secret: asked[1] }
  const sandboxes = /^#\/sandboxes(?:\/([0-9a-f-]{36}))?$/.exec(hash)
  if (sandboxes !== null) return { at: 'sandboxes', id: sandboxes[1] }
  const id = /^#\/sessions\/([0-9a-f-]{36})$/.exec(hash)?.[1]
  return id === undefined ? { at: 'sessions' } : { at: 'session', id }
}

/** The address of a session's view. */
export const sessionAddress = (id: string): string => `#/sessions/${id}`

/** The address of all sandboxes, or of the display of one. */
export const sandboxAddress = (id?: string): string => (id === undefined ? '#/sandboxes' : `#/sandboxes/${id}`)

export const route = signal<Route>(routeOf(location.hash))

/** Follows the address. */
export function followAddress(): void {
  addEventListener('hashchange', () => {
    route.value = routeOf(location.hash)
    scrollTo(0, 0)
    // A reader hears where it is now, as after a load.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('h1')?.focus())
  })
}
