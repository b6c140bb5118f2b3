// A browser with the extension, a relay and a site, paired and put away together.

import { Browser, type Page } from './browser.ts'
import { Relay } from './relay.ts'
import { type Answer, Site } from './site.ts'
import { until } from './wait.ts'

export class House {
  private readonly sites: Site[] = []

  private constructor(
    readonly browser: Browser,
    readonly relay: Relay,
  ) {}

  static async open(): Promise<House> {
    const [browser, relay] = await Promise.all([Browser.start(), new Relay().start()])
    return new House(browser, relay)
  }

  /** A site; a cocoon's, unless it has no token. */
  async site(name: string, pages: Record<string, Answer>, options: { hasToken?: boolean } = {}): Promise<Site> {
    const site = await Site.start(name, pages, options)
    this.sites.push(site)
    if (options.hasToken !== false) this.relay.cocoons.push(site.cocoon)
    return site
  }

  /** Types address and code into the popup, as a person does. */
  async pair(code = this.relay.code): Promise<Page> {
    const popup = await this.browser.popup()
    await until('the popup shows its form', () => popup.evaluate("!document.getElementById('pairing').hidden"))
    await popup.evaluate(`
      for (const [id, value] of [['address', ${JSON.stringify(this.relay.address)}], ['code', ${JSON.stringify(code)}]]) {
        const input = document.getElementById(id)
        input.value = value
        input.dispatchEvent(new Event('input'))
      }
      document.querySelector('#pairing button').click()`)
    return popup
  }

  /** Pairs, and waits until the extension is connected. */
  async paired(): Promise<void> {
    const before = this.relay.connections
    const popup = await this.pair()
    await until('the extension is connected', () => this.relay.connections > before)
    await popup.close()
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.relay.stop()
    for (const site of this.sites) await site.stop()
  }
}
