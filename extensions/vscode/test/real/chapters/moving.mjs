// A node that the extension starts with settings of its own: how it moves sessions, and how that is stopped.

import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../houses.mjs'
import { logins, storageState } from '../logins.mjs'

export default async function ({ step, code, here, there, room, settings }) {
  const restart = async (changed) => {
    await code.run('Stop the Local Node')
    await code.said('the local node has ended', 90_000)
    await code.clear()
    await code.live({ ...settings, ...changed })
    await code.run('Start the Local Node')
    await code.said('the local node runs')
    await code.clear()
  }
  const slow = join(here.folder, 'baton.toml')
  const progress = () => code.page.locator('.notification-list-item', { hasText: 'bringing many' }).first()
  const nothing = async () => {
    const names = (await here.baton('sessions', 'list')).items.map((session) => session.name)
    assert.ok(!names.includes('many'), 'nothing half is here')
  }
  await step('a node is started with the settings, and gives what is saved to its peers', async () => {
    await restart({ 'baton.autoSync': true, 'baton.conflictPolicy': 'manual' })
    const { pid } = await here.file()
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').join(' ')
    assert.match(words, /--auto-sync true --conflict-resolution manual/)
    const file = join(room, 'wiki.json')
    await writeFile(file, JSON.stringify(storageState('wiki.test', 'x')))
    await here.baton('import', file, '--name', 'wiki')
    await here.baton('save', 'wiki')
    const { items } = await there.baton('sessions', 'list')
    assert.ok(items.some((session) => session.name === 'wiki'))
    await code.status('sync', 'synced')
  })
  await step('an import that is cancelled in the middle leaves nothing', async () => {
    const file = join(room, 'many.json')
    await writeFile(file, JSON.stringify(logins(9000)))
    await there.baton('import', file, '--name', 'many')
    await there.baton('save', 'many')
    await writeFile(slow, '[sync]\nbytes_per_second = 100000\n')
    await restart({})
    await code.status('sync', '1 to pull')
    await code.run('List Remote Sessions')
    await code.pick('many')
    await until('it to say how far it is', async () => /parts left/.test((await progress().textContent()) ?? ''))
    await code.shot('moving')
    await progress().locator('.monaco-button', { hasText: 'Cancel' }).click()
    await code.said('many was not brought here')
    await nothing()
    await code.status('sync', '1 to pull')
    await code.clear()
  })
  await step('a peer that disappears in the middle is named, and leaves nothing half', async () => {
    await code.run('List Remote Sessions')
    await code.pick('many')
    await until('it to say how far it is', async () => /parts left/.test((await progress().textContent()) ?? ''))
    const place = await there.cut()
    await code.said('server does not answer')
    await code.status('sync', 'offline')
    await nothing()
    await code.clear()
    await there.serve(place)
    await code.status('sync', '1 to pull')
    await rm(slow)
    await restart({})
    await code.run('Sync Now')
    await code.said('1 session moved')
    await code.status('sync', 'synced')
    await code.clear()
  })
}
