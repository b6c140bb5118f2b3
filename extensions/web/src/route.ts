// Which part of the page is shown: it stands behind `#`, which no server sees.

import { signal } from '@preact/signals'

export type Route = { at: 'sessions' } | { at: 'session'; id: string } | { at: 'asked'; secret: string | undefined }

/** What an address shows. */
export function routeOf(hash: string): Route {
  const asked = /^#\/asked(?:\/([A-Za-z0-9_-]{16,64}))?$/.exec(hash)
  if (asked !== null) return { at: 'asked', secret: asked[1] }
  const id = /^#\/sessions\/([0-9a-f-]{36})$/.exec(hash)?.[1]
  return id === undefined ? { at: 'sessions' } : { at: 'session', id }
}

/** The address of a session's view. */
export const sessionAddress = (id: string): string => `#/sessions/${id}`

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
