// What goes to the node: tabs are offered, and the events of those that were taken are sent in order.

import { SOCKET_BYTES } from '../limits.ts'
import type { Link } from '../link/link.ts'
import type { DebugError, TabAccepted } from '../protocol.ts'
import { cleanAddress, cleanLine } from '../secrets/clean.ts'
import type { Tab } from './tab.ts'

/** How long an event waits for others, and until a full socket is looked at again, in milliseconds. */
const WAIT_MS = 50

/** When a tab for which the node had no room is offered again: what a page brought counts for a minute. */
const CROWDED_MS = 15_000

/** What an outbox works with. */
export interface Sender {
  readonly link: Pick<Link, 'send' | 'buffered' | 'state'>
  tabs(): Iterable<Tab>
  browserId(): string
  /** The tab has nothing more to say. */
  gone(tab: Tab): void
  noted(isImportant: boolean): void
}

export class Outbox {
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly sender: Sender) {}

  /** The connection is there. */
  opened(): void {
    for (const tab of this.sender.tabs()) this.offer(tab)
  }

  /** The connection is gone. */
  closed(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    for (const tab of this.sender.tabs()) tab.disconnected()
  }

  /** Offers a tab, once on a connection. */
  offer(tab: Tab): void {
    const { note, redactor } = tab
    const token = tab.grant()
    if (token === undefined || tab.offered !== undefined || this.sender.link.state.state !== 'connected') return
    tab.offered = token
    this.sender.link.send({
      type: 'browser_debug_tab_available',
      token,
      browser_id: this.sender.browserId(),
      url: cleanAddress(redactor, note.url),
      title: cleanLine(redactor, note.title),
      epoch: note.epoch,
      ...(note.favicon !== undefined && { favicon: cleanAddress(redactor, note.favicon) }),
      ...(note.firstLoad && note.resume === undefined && { first_load: true }),
      ...(note.reveals === true && { reveal: true }),
    })
  }

  /** Whether secrets of a tab are to be told is another thing now: it is offered again to say so. */
  reveals(tab: Tab): void {
    if (!tab.isAccepted) return
    tab.disconnected()
    this.offer(tab)
  }

  /** The node took a tab. */
  accepted(message: TabAccepted): void {
    for (const tab of this.sender.tabs()) {
      if (tab.offered !== message.offered || tab.isAccepted) continue
      tab.accepted(message.token, message.resume, message.last_seq, message.revealed === true)
      this.sender.noted(true)
      this.updated(tab)
      this.flush(tab)
      return
    }
  }

  /** The node did not take a tab, or knows it no more: a page with a new header may bring it back. */
  refused(error: DebugError): void {
    if (error.code === 'too_many_tabs') {
      this.crowded(error)
      return
    }
    if (error.code !== 'tab_gone' && error.code !== 'untrusted') return
    for (const tab of this.sender.tabs()) {
      const isNamed = error.offered !== undefined || error.token !== undefined
      const isOffered = tab.offered !== undefined && !tab.isAccepted
      const isMeant = isNamed
        ? tab.offered === (error.offered ?? error.token) || (tab.isAccepted && tab.note.token === error.token)
        : // Offers are answered in their order.
          isOffered
      if (!isMeant) continue
      const { offer } = tab.note
      const wasGrant = tab.offered !== offer
      tab.forget()
      if (tab.note.isEnded) this.sender.gone(tab)
      else if (wasGrant) {
        // A page that came meanwhile brought a token of its own.
        tab.note.offer = offer
        this.offer(tab)
      }
      this.sender.noted(true)
      return
    }
  }

  /** The node has no room for a tab now: it is offered again, for as long as it may be. */
  private crowded(error: DebugError): void {
    for (const tab of this.sender.tabs()) {
      const { offered } = tab
      if (offered === undefined || offered !== error.offered || tab.isAccepted) continue
      if (tab.note.isEnded) {
        this.sender.gone(tab)
        return
      }
      tab.refusal = error.message
      this.sender.noted(false)
      setTimeout(() => {
        if (tab.offered !== offered || tab.isAccepted || tab.note.isEnded) return
        tab.offered = undefined
        this.offer(tab)
      }, CROWDED_MS)
      return
    }
  }

  /** The tab shows something else. */
  updated(tab: Tab): void {
    const { note, redactor } = tab
    const { token } = note
    if (!tab.isAccepted || token === undefined || note.isEnded) return
    this.sender.link.send({
      type: 'browser_debug_tab_updated',
      token,
      url: cleanAddress(redactor, note.url),
      title: cleanLine(redactor, note.title),
    })
  }

  /** Sends what the node does not have, as long as the socket takes it. */
  flush(tab: Tab): void {
    const { token } = tab.note
    if (!tab.isAccepted || token === undefined) return
    for (let next = tab.ring.next(); next !== undefined; next = tab.ring.next()) {
      if (this.sender.link.buffered > SOCKET_BYTES) {
        this.later()
        return
      }
      const head = `{"token":${JSON.stringify(token)},"seq":${next.seq},`
      if (!this.sender.link.send(head + next.json.slice(1))) return
      tab.ring.sent = next.seq
    }
    this.sender.noted(false)
    if (!tab.note.isEnded) return
    this.sender.link.send({ type: 'browser_debug_tab_closed', token })
    this.sender.gone(tab)
  }

  /**
   * Sends an event soon, with others: one by one they cost the page more. What is kept is bounded, so it
   * does not wait where there is much.
   */
  soon(tab: Tab): void {
    if (tab.ring.isFilling()) this.flush(tab)
    else this.later()
  }

  private later(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      for (const tab of this.sender.tabs()) this.flush(tab)
    }, WAIT_MS)
  }
}
