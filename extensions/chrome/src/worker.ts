// The service worker as a whole: the settings, the tabs, and the connection to the node.

import { FINAL, type Final } from './link/codes.ts'
import { Link } from './link/link.ts'
import { type Connection, Refused, connect, exchange } from './link/node.ts'
import { BODY_BYTES } from './limits.ts'
import { type Cocoon, type RelayMessage, type TabEvent } from './protocol.ts'
import { Bodies } from './record/bodies.ts'
import { BaseLayer } from './record/base.ts'
import type { Needs } from './record/listeners.ts'
import { NO_NAMES } from './secrets/names.ts'
import { hideBy } from './secrets/redactor.ts'
import { Notes } from './store/notes.ts'
import { type Settings, loadSettings, saveSettings } from './store/settings.ts'
import { Journey } from './tabs/journey.ts'
import { Outbox } from './tabs/outbox.ts'
import { Registry } from './tabs/registry.ts'
import { cocoonOf } from './tabs/scope.ts'
import type { Tab } from './tabs/tab.ts'
import type { Watcher } from './tabs/watch.ts'
import { showBadge } from './badge.ts'

/** How often the node is asked at most which cocoons there are, because of a page, in milliseconds. */
const ASK_MS = 5_000

export class Worker {
  readonly bodies = new Bodies()
  readonly registry: Registry
  readonly outbox: Outbox
  readonly journey: Journey
  readonly base: BaseLayer
  readonly link: Link
  private readonly notes: Notes
  /** Bytes of a body that the node takes. */
  private nodesBodyBytes = BODY_BYTES
  private askedAt = -Infinity
  settings!: Settings
  /** What the base layer has to be told may be another thing now. */
  changed: () => void = () => {}

  constructor() {
    const watcher: Watcher = {
      bodies: this.bodies,
      bodyBytes: () => this.bodyBytes(),
      tell: (tab, event) => this.tell(tab, event),
      noted: () => this.noted(),
    }
    this.registry = new Registry(watcher)
    this.notes = new Notes(() => this.registry.notes())
    this.link = new Link({
      connect: () => this.connect(),
      opened: (connection) => this.opened(connection),
      heard: (message) => this.heard(message),
      closed: () => this.outbox.closed(),
      revoked: (end) => this.revoked(end),
      changed: () => this.showBadge(),
    })
    this.outbox = new Outbox({
      link: this.link,
      tabs: () => this.registry.all(),
      browserId: () => this.settings.browser_id,
      gone: (tab) => this.registry.gone(tab),
      noted: (isImportant) => (isImportant ? this.noted() : this.notes.soon()),
    })
    this.journey = new Journey({
      registry: this.registry,
      outbox: this.outbox,
      watcher,
      cocoons: () => this.cocoons(),
      ask: (url) => this.ask(url),
      heads: () => this.changed(),
      arrived: (tabId) => this.base.arrived(tabId),
    })
    this.base = new BaseLayer(this.journey)
  }

  /** Reads what was kept; nothing else may happen before. */
  async load(): Promise<void> {
    const [settings, notes] = await Promise.all([loadSettings(), Notes.load()])
    this.settings = settings
    hideBy(settings.redact)
    this.registry.revive(notes)
  }

  /** Connects. */
  begin(): void {
    this.link.start()
    const why = this.settings.revoked
    if (why !== undefined) this.link.stop({ state: 'pair_again', why })
  }

  /** Looks at the tabs again that the worker's life before looked at. */
  async lookAgain(): Promise<void> {
    for (const tab of this.registry.open()) {
      const found = await chrome.tabs.get(tab.note.tabId).catch(() => undefined)
      const top = await chrome.webNavigation.getFrame({ tabId: tab.note.tabId, frameId: 0 }).catch(() => null)
      if (this.registry.get(tab.note.tabId) !== tab) continue
      if (found === undefined) this.journey.closed(tab.note.tabId)
      else if (top !== null && tab.note.isInside) this.journey.shows(tab.note.tabId, top.url, top.documentId)
    }
    this.noted()
  }

  private cocoons(): readonly Cocoon[] {
    return this.settings.key === undefined ? [] : this.settings.cocoons
  }

  bodyBytes(): number {
    return Math.min(this.settings.response_body_max_size, this.nodesBodyBytes)
  }

  private tell(tab: Tab, event: TabEvent): void {
    tab.put(event, this.bodyBytes())
    this.outbox.soon(tab)
    this.notes.soon()
  }

  private noted(): void {
    this.notes.now()
    this.showBadge()
    this.changed()
  }

  /** What the base layer has to be told of now. */
  needs(): Needs {
    const begins = this.registry.lacks(Date.now())
    return { begins, ends: begins || this.base.isWaiting() }
  }

  private showBadge(): void {
    if (this.settings === undefined) return
    const looking = this.registry.open().filter((tab) => tab.note.isAttached)
    showBadge(this.settings.key !== undefined || this.settings.revoked !== undefined, this.link.state.state, looking.length)
  }

  private async connect(): Promise<{ url: string; connection: Connection } | undefined> {
    const { key, signaling_url, browser_id } = this.settings
    if (key === undefined) return undefined
    const connection = await connect(signaling_url, key, browser_id)
    await this.learn(connection)
    return { url: signaling_url, connection }
  }

  private async learn(connection: Connection): Promise<void> {
    this.nodesBodyBytes = connection.response_body_max_size ?? BODY_BYTES
    hideBy(connection.redact)
    const { cocoons, redact } = this.settings
    if (JSON.stringify([connection.cocoons, connection.redact]) === JSON.stringify([cocoons, redact])) return
    Object.assign(this.settings, { cocoons: connection.cocoons, redact: connection.redact })
    await saveSettings(this.settings)
  }

  private opened(_connection: Connection): void {
    this.outbox.opened()
  }

  private heard(message: RelayMessage): void {
    if (message.type === 'browser_debug_tab_accepted') this.outbox.accepted(message)
    else if (message.type === 'browser_debug_error') this.outbox.refused(message)
  }

  /** Asks the node which cocoons there are, not too often; whether the page is one's now. */
  private async ask(url: string): Promise<boolean> {
    const { key, signaling_url, browser_id } = this.settings
    if (key === undefined || performance.now() - this.askedAt < ASK_MS) return false
    this.askedAt = performance.now()
    try {
      await this.learn(await connect(signaling_url, key, browser_id))
    } catch (error) {
      // The link finds out by itself, and says why.
      if (!(error instanceof Refused)) return false
    }
    return cocoonOf(url, this.cocoons()) !== undefined
  }

  private revoked(end: Final): void {
    this.settings.revoked = FINAL[end]
    // Paired by the same name, it would end the pairing of the browser of which it is a copy.
    if (end === 'replaced') this.settings.browser_id = crypto.randomUUID()
    void this.forget()
  }

  /** Pairs this browser with a node. */
  async pair(address: string, code: string): Promise<void> {
    const { key, signaling_url } = await exchange(address, code, this.settings.browser_id)
    this.endAll()
    // What the node before gave is nothing for this one.
    for (const tab of this.registry.all()) this.registry.gone(tab)
    Object.assign(this.settings, { key, signaling_url, cocoons: [], redact: NO_NAMES })
    delete this.settings.revoked
    await saveSettings(this.settings)
    this.link.restart()
  }

  async unpair(): Promise<void> {
    delete this.settings.revoked
    this.endAll()
    this.link.stop({ state: 'unpaired' })
    await this.forget()
  }

  /** No tab is looked at, and there is no key. */
  private async forget(): Promise<void> {
    this.endAll()
    for (const tab of this.registry.all()) this.registry.gone(tab)
    delete this.settings.key
    Object.assign(this.settings, { cocoons: [], redact: NO_NAMES })
    await saveSettings(this.settings)
    this.noted()
  }

  private endAll(): void {
    for (const tab of this.registry.open()) this.journey.closed(tab.note.tabId)
  }
}
