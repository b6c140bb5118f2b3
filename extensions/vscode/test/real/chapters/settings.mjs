// Settings that change while the window is open.

import assert from 'node:assert/strict'
import { until } from '../houses.mjs'
import { nodeOfVersion } from '../others.mjs'

export default async function ({ step, code, here, cloud, settings }) {
  await step('the node in the cloud is registered as soon as the settings name it, and stays pending', async () => {
    await cloud.serve()
    const { url } = await cloud.file()
    await code.live({ ...settings, 'baton.syncCloudUrl': url })
    await code.said('the node in the cloud is registered')
    await code.row('cloud').waitFor()
    const { items } = await here.ask('GET', '/sync/peers')
    assert.equal(items.find((peer) => peer.name === 'cloud').state, 'pending')
    await code.clear()
    await code.live(settings)
    await here.baton('peers', 'remove', 'cloud')
    await until('the peer to go', async () => (await code.row('cloud').count()) === 0)
    await cloud.end()
  })
  await step('peers are asked only while sync is enabled', async () => {
    await code.live({ ...settings, 'baton.syncEnabled': false })
    await code.status('sync', 'ready')
    await code.live(settings)
    await code.status('sync', 'synced')
  })
  await step('a node of another version is asked for nothing, and named', async () => {
    const other = await nodeOfVersion('9.9.9')
    await code.live({ ...settings, 'baton.nodeUrl': other.url })
    await code.status('sync', 'offline')
    await code.run('List Remote Sessions')
    assert.match(await code.said('expected a node of version 0.1'), /found 9.9.9/)
    await code.clear()
    other.end()
    await code.live(settings)
    await code.status('sync', 'synced')
  })
}
