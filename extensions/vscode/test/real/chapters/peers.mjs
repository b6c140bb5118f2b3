// A peer is registered, and sessions move there and here.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { storageState } from '../logins.mjs'

export default async function ({ step, code, here, there, room }) {
  await step('the wizard registers a peer, with its fingerprint compared', async () => {
    const laptop = (await here.baton('peers', 'list')).fingerprint
    const { secret: key } = await there.baton('keys', 'create', '--name', 'laptop', '--scope', 'sync', '--for-node', laptop)
    const { fingerprint } = await there.baton('peers', 'list')
    await code.run('Register a Peer')
    await code.answer('Address of the other node', 'http://baton.example.org')
    await code.page.locator('.quick-input-message', { hasText: 'begin with https' }).waitFor()
    await code.answer('Address of the other node', (await there.file()).url)
    await code.answer('What you call it', 'server')
    await code.pick('API key')
    await code.answer('API key of the other node', key)
    await code.page.locator(`.quick-input-widget input[placeholder="${fingerprint}"]`).waitFor()
    await code.silent()
    await code.shot('wizard')
    await code.pick('It is the same')
    await code.said('server is confirmed and answers')
    await code.row('server').waitFor()
    await code.clear()
  })
  await step('a session is exported to the peer', async () => {
    await code.run('Export a Session')
    await code.pick('shop')
    await code.pick('To a peer')
    await code.pick('server')
    await code.said('shop is there: server')
    await code.status('sync', 'synced')
    assert.equal((await there.baton('sessions', 'list')).items[0].name, 'shop')
    await code.clear()
  })
  await step('what the peer has is listed with age, size and place, and imported', async () => {
    const other = join(room, 'forum.json')
    await writeFile(other, JSON.stringify(storageState('forum.test', 'x')))
    await there.baton('import', other, '--name', 'forum')
    await there.baton('save', 'forum')
    await code.status('sync', '1 to pull')
    await code.run('List Remote Sessions')
    const row = code.page.locator('.quick-input-list .monaco-list-row', { hasText: 'forum' }).first()
    await row.waitFor()
    assert.match((await row.textContent()) ?? '', /server, (just now|\d+ min ago), [\d.]+ (B|KiB).*not here/)
    await code.shot('remote')
    await row.click()
    await code.said('forum is here')
    await code.status('sync', 'synced')
    await code.clear()
  })
  await step('an import that is cancelled leaves nothing', async () => {
    await code.run('Import a Session')
    await code.pick('From a file')
    await code.page.locator('.quick-input-widget').waitFor()
    await code.page.keyboard.press('Escape')
    assert.equal((await here.baton('sessions', 'list')).items.length, 2)
  })
}
