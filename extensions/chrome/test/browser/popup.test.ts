// The popup shows what is true, in light and dark; a picture of it is kept in `dist-test/`.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Page } from '../kit/browser.ts'
import { House } from '../kit/house.ts'
import { TALKER } from '../kit/pages.ts'
import { until } from '../kit/wait.ts'

let house: House
before(async () => {
  house = await House.open()
})
after(() => house.close())

async function picture(popup: Page, name: string, scheme: 'light' | 'dark'): Promise<void> {
  await popup.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
  await popup.send('Emulation.setDeviceMetricsOverride', { width: 360, height: 420, deviceScaleFactor: 2, mobile: false })
  const { data } = await popup.send<{ data: string }>('Page.captureScreenshot', { format: 'png' })
  await writeFile(`dist-test/popup-${name}-${scheme}.png`, Buffer.from(data, 'base64'))
}

test('a tab is shown with its title as text, its events, and what was missed; a reload captures it', async () => {
  const site = await house.site('shop', { '/': TALKER.replace('<title>talker</title>', '<title>&lt;img src=x onerror=alert(1)&gt; cart</title>'), '/said': 'yes' })
  const unpaired = await house.browser.popup()
  await until('the form is shown', () => unpaired.evaluate("!document.getElementById('pairing').hidden"))
  assert.equal(await unpaired.evaluate("document.getElementById('address').value"), 'http://127.0.0.1:7420')
  await picture(unpaired, 'unpaired', 'light')
  await unpaired.close()
  await house.paired()
  await house.browser.open(`${site.origin}/`)
  const tab = await house.relay.tab(site.origin)
  const popup = await house.browser.popup()
  const facts = () => popup.evaluate<string>("document.querySelector('#tabs .facts')?.innerText ?? ''")
  // Events wait a moment for each other.
  const isToldWhole = async () => /^shop\n[1-9]\d* events? sent\nThe beginning of this page was missed\.$/.test(await facts())
  await until('its events are counted, and what was missed is told', isToldWhole)
  assert.equal(await popup.evaluate("document.querySelector('#tabs .title').innerText"), '<img src=x onerror=alert(1)> cart')
  assert.equal(await popup.evaluate("document.querySelectorAll('img').length"), 0)
  assert.equal(await house.browser.inWorker('chrome.action.getBadgeText({})'), '1')
  await picture(popup, 'tab', 'light')
  await picture(popup, 'tab', 'dark')

  await popup.evaluate("document.querySelector('#tabs .reload').click()")
  const isWhole = () => tab.events.some((event) => event.type === 'browser_debug_network_event' && event.source === 'debugger' && event.event === 'request' && event.data.resource_type === 'document')
  await until('the page is told from its beginning', isWhole)
  await until('the popup says so', async () => !(await facts()).includes('missed'))
  assert.equal(await popup.evaluate("document.querySelector('#tabs .reload').hidden"), true)
})
