// Where in a tab something happens: in the page, in a frame of another site, or in a worker.

import type { Protocol } from 'devtools-protocol'

/** Where in a tab. `url` is the frame's address or the worker's script. */
export type Place = { kind: 'page' } | { kind: 'frame' | 'worker'; url: string }

export const PAGE: Place = { kind: 'page' }
/** Places of one tab that are known at most. */
const MOST = 500

const WORKERS = ['worker', 'shared_worker', 'service_worker']

/** The places of a tab, by the session in which the browser tells of them. */
export class Places {
  private readonly known: Map<string, Place>

  constructor(known: readonly (readonly [string, Place])[] = []) {
    this.known = new Map(known)
  }

  /** The place of a session; the page itself has none. */
  find(session: string | undefined): Place | undefined {
    return session === undefined ? PAGE : this.known.get(session)
  }

  /** A target below the page was attached; none when it is nothing that can be listened to. */
  attached(session: string, target: Protocol.Target.TargetInfo): Place | undefined {
    const kind = target.type === 'iframe' ? 'frame' : WORKERS.includes(target.type) ? 'worker' : undefined
    if (kind === undefined || this.known.size >= MOST) return undefined
    const place: Place = { kind, url: target.url }
    this.known.set(session, place)
    return place
  }

  /** A frame shows another page. */
  shows(session: string, url: string): void {
    if (this.known.get(session)?.kind === 'frame') this.known.set(session, { kind: 'frame', url })
  }

  detached(session: string): void {
    this.known.delete(session)
  }

  /** To be kept over the end of the service worker. */
  list(): [string, Place][] {
    return [...this.known]
  }
}
