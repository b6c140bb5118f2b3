// A tab is looked into: its console and its requests as they come, without its secrets.

import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../houses.mjs'
import { openSite, SECRETS } from '../site.mjs'

export default async function ({ step, code, here, room }) {
  const site = await openSite()
  try {
    await tell({ step, code, here, room, site })
  } finally {
    site.close()
  }
}

async function tell({ step, code, here, room, site }) {
  const panel = code.view()
  const line = (text) => panel.locator('#lines .line', { hasText: text })
  const request = (text) => panel.locator('#requests .request', { hasText: text })
  const state = (text) => panel.locator('#state', { hasText: text }).waitFor({ timeout: 60_000 })

  await step('a click on a tab shows its console and its requests', async () => {
    await here.baton('open', site.url, '--name', 'desk', '--debug')
    await code.run('Look Again')
    await code.row('Tea shop').click()
    await line('the shop is open').waitFor()
    await panel.locator('#lines .line.warn', { hasText: 'tea is nearly out' }).waitFor()
    await request('/cart').filter({ hasText: '200' }).waitFor()
    await state('Live')
    assert.equal(await panel.locator('#title').textContent(), 'Tea shop')
    assert.equal(await panel.locator('#of').textContent(), 'desk')
  })
  await step('what happens afterwards comes by itself', async () => {
    site.tell({ log: 'a customer came', get: '/held' })
    await panel.locator('#lines .line.error', { hasText: 'a customer came' }).waitFor()
    await request('/held').filter({ hasText: 'pending' }).waitFor()
    await until('the request to arrive', () => site.held() === 1)
    site.release()
    await request('/held').filter({ hasText: '200' }).waitFor()
    assert.equal(await request('/held').count(), 1)
    await code.shot('panel')
  })
  await step('filters leave what was asked for', async () => {
    await panel.locator('#level').selectOption('error')
    await line('a customer came').waitFor()
    assert.equal(await line('the shop is open').isVisible(), false)
    await panel.locator('#level').selectOption('debug')
    await panel.locator('#request-filter').fill('CART')
    assert.equal(await request('/cart').isVisible(), true)
    assert.equal(await request('/held').isVisible(), false)
    await panel.locator('#request-filter').fill('')
  })
  await step('a request is looked into by the keyboard alone, without a secret', async () => {
    await panel.locator('#requests [tabindex="0"]').focus()
    for (let steps = 0; steps < 10; steps++) {
      if ((await panel.locator('#requests :focus').textContent())?.includes('/cart')) break
      await code.page.keyboard.press('ArrowDown')
    }
    await code.page.keyboard.press('Enter')
    const details = panel.locator('#details')
    await details.filter({ hasText: '{"tea":2}' }).waitFor()
    const text = (await details.textContent()) ?? ''
    assert.match(text, /MethodGET.*Status200.*Request headers.*authorization.*Response headers/is)
    await code.shot('request')
    const all = (await panel.locator('body').textContent()) ?? ''
    for (const secret of SECRETS) assert.ok(!all.includes(secret), `${secret} was shown`)
    await code.page.keyboard.press('Escape')
    await details.waitFor({ state: 'hidden' })
  })
  await step('what is kept of the tab is saved as an archive', async () => {
    const file = join(room, 'desk.har')
    await code.run('Save as HAR')
    await code.answer('Save as HAR', file)
    await code.said(`are in ${file}`)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const text = await readFile(file, 'utf8')
    assert.ok(JSON.parse(text).log.entries.some((entry) => entry.request.url.includes('/cart')))
    for (const secret of SECRETS) assert.ok(!text.includes(secret), `${secret} was saved`)
    await code.clear()
  })
  await step('what came while nobody looked is there, and what was cleared stays away', async () => {
    await panel.locator('#clear-console').click()
    await line('a customer came').waitFor({ state: 'detached' })
    await code.runAny('View: Toggle Panel Visibility')
    await panel.locator('#state').waitFor({ state: 'detached' })
    site.tell({ log: 'nobody saw this' })
    await code.row('Tea shop').click()
    await line('nobody saw this').waitFor()
    assert.equal(await line('the shop is open').count(), 0)
  })
  await step('at a narrow width one list is shown at a time', async () => {
    await code.page.setViewportSize({ width: 700, height: 800 })
    await panel.locator('#to-network').click()
    await request('/cart').waitFor()
    assert.equal(await panel.locator('#console').isVisible(), false)
    await code.shot('narrow')
    await code.page.setViewportSize({ width: 1280, height: 800 })
    await line('nobody saw this').waitFor()
  })
  await step('a node that ends is told, and what comes after it is back is shown', async () => {
    await code.run('Stop the Local Node')
    await state('Nothing comes')
    await code.shot('without-node')
    await code.said('the local node has ended', 90_000)
    await panel.locator('#remedy', { hasText: 'Start the Local Node' }).click()
    await code.said('the local node runs')
    await state('Live')
    site.tell({ log: 'open again' })
    await line('open again').waitFor()
    await panel.locator('#requests-missing, #lines-missing', { hasText: 'before anyone looked' }).first().waitFor()
    await code.clear()
  })
  await step('a tab that is closed is told', async () => {
    await here.baton('sessions', 'close', 'desk')
    await state('This tab is gone')
    await code.row('Tea shop').waitFor({ state: 'detached' })
    await code.runAny('View: Toggle Panel Visibility')
  })
}
