// A person pairs the browser with a node, and ends it again.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from '../kit/browser.ts'
import { House } from '../kit/house.ts'
import { until } from '../kit/wait.ts'

let house: House
before(async () => {
  house = await House.open()
})
after(() => house.close())

const text = (page: Page, id: string) => page.evaluate<string>(`document.getElementById('${id}').innerText`)
const badge = () => house.browser.inWorker<string>("chrome.action.getBadgeText({})")

test('a wrong code is told with what to do, and the right one connects', async () => {
  const popup = await house.pair('AAAA-AAAA')
  await until('the error is shown', async () => (await text(popup, 'error')) !== '')
  assert.equal(await text(popup, 'error'), 'the code is not known or was used\nrun `baton debug pair` again')
  assert.equal(await text(popup, 'status'), 'Not paired')
  await popup.close()

  const second = await house.pair()
  await until('it is connected', async () => (await text(second, 'status')).startsWith('Connected since'))
  assert.equal(house.relay.connections, 1)
  assert.equal(await badge(), '')
  const key = [...house.relay.keys][0] ?? 'no key'
  const seen = await second.evaluate<string>("document.documentElement.outerHTML + JSON.stringify(await chrome.runtime.sendMessage({ ask: 'status' }))".replace(/^/, '(async () => ') + ')()')
  assert.ok(!seen.includes(key), 'the popup never has the key')
})

test('a revoked key ends it: pair again', async () => {
  house.relay.revoke()
  house.relay.hangUp(4403)
  const popup = await house.browser.popup()
  await until('it says so', async () => (await text(popup, 'status')) === 'The pairing ended: pair again')
  assert.equal(await badge(), '!')
  assert.equal(await house.browser.inWorker("chrome.storage.local.get('key').then((kept) => kept.key ?? 'none')"), 'none')
  await popup.close()
})

test('a key that the node no longer knows ends it as well', async () => {
  await house.paired()
  house.relay.revoke()
  house.relay.hangUp(1001)
  const popup = await house.browser.popup()
  await until('it says so', async () => (await text(popup, 'status')) === 'The pairing ended: pair again')
  await popup.close()
})

test('a person ends it', async () => {
  await house.paired()
  const popup = await house.browser.popup()
  await until('it is connected', async () => (await text(popup, 'status')).startsWith('Connected since'))
  await popup.evaluate("document.getElementById('unpair').click()")
  await until('it is not paired', async () => (await text(popup, 'status')) === 'Not paired')
  assert.equal(await house.browser.inWorker("chrome.storage.local.get('key').then((kept) => kept.key ?? 'none')"), 'none')
})

test('a node on another machine needs https', async () => {
  const popup = await house.browser.popup()
  await until('the popup shows its form', () => popup.evaluate("!document.getElementById('pairing').hidden"))
  await popup.evaluate(`
    address.value = 'http://node.test:7420'; code.value = 'K7QM-2XPD'
    document.querySelector('#pairing button').click()`.replace('address.value', "document.getElementById('address').value").replace('code.value', "document.getElementById('code').value"))
  await until('the error is shown', async () => (await text(popup, 'error')) !== '')
  assert.equal(await text(popup, 'error'), 'expected https for a node on another machine, found http; use https://node.test:7420')
})
