// A tab is looked into: its console and its requests as they come, without its secrets.

import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../houses.mjs'
import { openSite, SECRETS } from '../site.mjs'

export default async function ({ step, code, here, room, settings }) {
  const site = await openSite()
  try {
    await tell({ step, code, here, room, settings, site })
  } finally {
    site.close()
  }
}

async function tell({ step, code, here, room, settings, site }) {
  const panel = code.view()
  const line = (text) => panel.locator('#lines .line', { hasText: text })
  const request = (text) => panel.locator('#requests .request', { hasText: text })
  const state = (text) => panel.locator('#state', { hasText: text }).waitFor({ timeout: 60_000 })

  await step('a click on a tab shows its console and its requests', async () => {
    await here.baton('open', site.url, '--name', 'desk', '--debug')
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
  await step('a session shows its page when one points at it', async () => {
    await here.baton('sessions', 'capture', 'desk')
    await code.row('desk').hover()
    await code.page.locator('.monaco-hover img, .workbench-hover img').first().waitFor({ timeout: 15_000 })
    await code.shot('hover', { withPointer: true })
    await code.page.mouse.move(0, 0)
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
    const file = join(room, 'workspace', 'desk.har')
    await code.run('Save as HAR')
    await code.save('Save as HAR', 'desk.har')
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
    await code.run('Look Into a Tab')
    await code.pick('Tea shop')
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
  await step('a key that may not look is told, and one that may goes on', async () => {
    const make = (name, ...scopes) =>
      here.baton('keys', 'create', '--name', name, ...scopes.flatMap((scope) => ['--scope', scope]))
    const [reader, looker] = [await make('reader', 'read'), await make('looker', 'read', 'debug')]
    const setKey = async ({ secret }) => {
      await code.answer('Key of the node at', secret)
      await code.said('takes the key')
      await code.clear()
    }
    const { url } = await here.file()
    await code.change({ ...settings, 'baton.nodeUrl': url })
    await code.status('sync', 'key wanted')
    await code.run("Set the Node's Key")
    await setKey(looker)
    await code.runAny('Focus on Debug Tab View')
    await panel.locator('#remedy', { hasText: 'Look Into a Tab' }).click()
    await code.pick('Tea shop')
    await state('Live')
    await code.run("Set the Node's Key")
    await setKey(reader)
    site.tell({ log: 'not for everybody' })
    await state('set one with the scope debug')
    await code.shot('forbidden')
    await panel.locator('#remedy', { hasText: 'Set the Key' }).click()
    await setKey(looker)
    await state('Live')
    await line('not for everybody').waitFor()
    await code.run("Forget the Node's Key")
    await code.said('is forgotten')
    await code.change(settings)
    await code.row('Tea shop').click()
    await state('Live')
    await code.clear()
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
