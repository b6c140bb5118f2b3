// What a recorder works with, given by whoever listens to the tab.

import type { TabEvent } from '../protocol.ts'
import type { Place } from './places.ts'

/** What a recorder works with. */
export interface Host {
  /** Whether a page is the cocoon's. */
  isWithin(url: string): boolean
  /** Whether scripts of this origin may be the page's. */
  isOrigin(origin: string): boolean
  tell(event: TabEvent): void
  /** So many events will never be told. */
  loses(events: number): void
  /** A request is sent, and told of. */
  sends(method: string, url: string): void
  /** The page in the tab is another one. */
  shows(url: string, isInside: boolean): void
  /** A frame of another site, or a worker, has to be listened to; none when it only has to go on. */
  below(session: string, place: Place | undefined): void
  command<T>(session: string | undefined, method: string, params: object): Promise<T>
  bodyBytes(): number
  /** Replayed lines up to then were told before, or are not to be told. */
  readonly toldUntil: number
}
