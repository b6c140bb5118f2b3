// The connection is lost in every way there is, and is back within 5 s after the cause ended.

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Page } from '../kit/browser.ts'
import { House } from '../kit/house.ts'
import { TALKER } from '../kit/pages.ts'
import type { Taken } from '../kit/relay.ts'
import { until } from '../kit/wait.ts'

const BACK_MS = 5_000

let house: House
let page: Page
let tab: Taken

before(async () => {
  house = await House.open()
  const site = await house.site('shop', { '/': TALKER, '/said': 'yes' })
  await house.paired()
  page = await house.browser.open(`${site.origin}/`)
  tab = await house.relay.tab(site.origin)
})
after(() => house.close())
beforeEach(() => said('before'))

const words = () => tab.events.flatMap((event) => (event.type === 'browser_debug_console_event' ? [event.entry.message] : []))

/** The page says a word, and the relay hears it. */
async function said(word: string, limit?: number): Promise<void> {
  const many = words().filter((one) => one === word).length
  await page.evaluate(`say('${word}')`)
  await until(`${word} arrives`, () => words().filter((one) => one === word).length > many, limit)
}

test('the relay hangs up', async () => {
  const { connections } = house.relay
  house.relay.hangUp(1001)
  await until('it is back', () => house.relay.connections > connections, BACK_MS)
  await said('after the hang-up')
  assert.deepEqual(tab.holes, [])
})

test('the relay is away for a while: what happened meanwhile comes when it is back', async () => {
  await house.relay.stop()
  await page.evaluate("say('while it is away')")
  const popup = await house.browser.popup()
  const status = () => popup.evaluate<string>("document.getElementById('status').innerText")
  await until('the popup says so', async () => (await status()).includes('Reconnecting in'))
  assert.equal(await house.browser.inWorker('chrome.action.getBadgeText({})'), '!')
  await house.relay.start()
  const { connections } = house.relay
  await until('it is back', () => house.relay.connections > connections, BACK_MS)
  await until('what was said is there', () => words().includes('while it is away'))
  await until('the popup says so', async () => (await status()).startsWith('Connected since'))
  await popup.close()
  assert.deepEqual(tab.holes, [])
  assert.equal(house.relay.tabs.size, 1, 'the tab kept its token')
})

test('a relay that forgot the tab gets a new one with the next page', async () => {
  const before = house.relay.heard.length
  house.relay.tabs.clear()
  house.relay.hangUp(1001)
  await until('the tab is refused', () => house.relay.heard.slice(before).some((text) => text.includes(`grant.${tab.token}`)))
  const loaded = page.loaded()
  await page.send('Page.reload')
  await loaded
  tab = await house.relay.tab('http://shop')
  await said('anew')
})

test('the same, when the page came while the relay was away', async () => {
  await house.relay.stop()
  house.relay.tabs.clear()
  const loaded = page.loaded()
  await page.send('Page.reload')
  await loaded
  await house.relay.start()
  tab = await house.relay.tab('http://shop')
  await said('once more anew')
})

test('the worker is stopped: it comes back, keeps the tab, and a hole says that something may be missing', async () => {
  const { token, epoch } = tab
  const { connections } = house.relay
  await house.browser.stopWorker()
  await page.evaluate("say('while it sleeps')")
  await until('it is back', () => house.relay.connections > connections, BACK_MS)
  await until('what was said is there', () => words().includes('while it sleeps'))
  await said('after the sleep')
  assert.deepEqual([tab.token, tab.epoch], [token, epoch])
  assert.equal(tab.holes.length, 1)
  assert.equal(words().filter((word) => word === 'while it sleeps').length, 1, 'lines are told once')
})

test('more than is kept happens while the relay is away: the newest come, and a hole tells of the others', async () => {
  await house.relay.stop()
  const holes = tab.holes.length
  await page.evaluate("for (let at = 0; at < 1200; at += 1) console.log('line ' + at)")
  const popup = await house.browser.popup()
  const facts = () => popup.evaluate<string>("document.querySelector('#tabs .facts')?.innerText ?? ''")
  await until('the popup tells what was dropped', async () => /2\d\d events lost/.test(await facts()))
  await house.relay.start()
  await until('the newest came', () => words().includes('line 1199'))
  await popup.close()
  assert.equal(tab.holes.length, holes + 1)
  assert.ok(!words().includes('line 0'))
})
