// A session that was changed here and elsewhere.

import assert from 'node:assert/strict'
import { until } from '../houses.mjs'

export default async function ({ step, code, here }) {
  await step('a conflict is compared side by side, without a value, and resolved', async () => {
    const { items } = await here.baton('sessions', 'list')
    const { id } = items.find((session) => session.name === 'shop')
    const session = await here.ask('GET', `/sync/sessions/${id}`)
    session.state.cookies[0].value = 'of somebody else'
    delete session.sync.checksum
    await here.ask('POST', '/sync/sessions', session)
    await code.status('sync', 'conflict')
    await code.row('Conflicts').waitFor()
    await code.run('Resolve a Conflict')
    await code.page.locator('.monaco-diff-editor').waitFor()
    await code.page.locator('.quick-input-widget', { hasText: 'Which revision of shop counts?' }).waitFor()
    await code.shot('conflict')
    const compared = (await code.page.locator('.monaco-diff-editor').textContent()) ?? ''
    assert.ok(!compared.includes('somebody') && !compared.includes('first'), 'a value was shown')
    await code.pick('this one counts from now on')
    await code.said('counts from now on')
    await code.page.locator('.monaco-diff-editor').waitFor({ state: 'detached' })
    assert.equal((await here.ask('GET', '/sync/conflicts')).items.length, 0)
    await until('the conflict to go', async () => (await code.row('Conflicts').count()) === 0)
    await code.clear()
    await code.status('sync', '1 to push')
    await code.run('Sync Now')
    await code.said('1 session moved')
    await code.status('sync', 'synced')
    await code.clear()
  })
}
