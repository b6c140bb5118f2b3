// Sessions go to files and come from them.

import assert from 'node:assert/strict'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export default async function ({ step, code, here, room }) {
  const to = async (way, name) => {
    await code.run('Export a Session')
    await code.pick('shop')
    await code.pick(way)
    await code.page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Export' }).click()
    await code.save('Export shop', 'shop.json')
    await code.said('shop is in')
    await code.clear()
    const path = join(room, 'workspace', name)
    await rename(join(room, 'workspace', 'shop.json'), path)
    assert.equal((await stat(path)).mode & 0o777, 0o600, 'only its owner may read it')
    return JSON.parse(await readFile(path, 'utf8'))
  }
  const from = async (path) => {
    await code.run('Import a Session')
    await code.pick('From a file')
    await code.file(path)
  }
  await step('a session is exported as a file that only its owner may read', async () => {
    const session = await to('As a session file', 'whole.json')
    assert.equal(session.name, 'shop')
    const state = await to('As a storageState', 'state.json')
    assert.equal(state.cookies[0].name, 'sid')
  })
  await step('a session is imported from a file', async () => {
    await from(join(room, 'workspace', 'state.json'))
    await code.answer('Name of the session', 'no name')
    await code.page.locator('.quick-input-message', { hasText: 'expected 1 to 64 letters' }).waitFor()
    await code.answer('Name of the session', 'again')
    await code.said('again is here: 1 cookie, ')
    await code.row('again').waitFor()
    await code.clear()
    await here.baton('sessions', 'delete', 'again')
    await code.gone('again')
  })
  await step('a file that holds no session says so, and leaves nothing', async () => {
    const path = join(room, 'workspace', 'notes.json')
    await writeFile(path, '[1]')
    await from(path)
    await code.answer('Name of the session', 'nonsense')
    assert.match(await code.said('expected'), /a JSON list of another kind/)
    await code.clear()
    await writeFile(path, '{"cookies": 7}')
    await from(path)
    await code.answer('Name of the session', 'nonsense')
    await code.said('cookies')
    await code.clear()
    const { items } = await here.baton('sessions', 'list')
    assert.deepEqual(items.map((session) => session.name).sort(), ['forum', 'shop'])
  })
}
