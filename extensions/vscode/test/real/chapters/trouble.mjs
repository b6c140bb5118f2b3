// What goes wrong between VS Code, the node and its peers.

import assert from 'node:assert/strict'

export default async function ({ step, code, here, there, settings }) {
  await step('a peer that disappears is told, by itself', async () => {
    await there.end()
    await code.status('sync', 'offline')
    await code.shot('peer-gone')
    await code.run('Sync Now')
    await code.said('server:')
    await code.clear()
  })
  await step('nonsense in the settings says what is expected', async () => {
    await code.change({ ...settings, 'baton.nodeUrl': 'somewhere' })
    await code.status('sync', 'offline')
    await code.run('Sync Now')
    assert.match(await code.said('expected baton.nodeUrl to be an address'), /What to do: open the settings/)
    await code.clear()
  })
  await step('a wrong key is told, and a good one is kept secret', async () => {
    const { url } = await here.file()
    await code.change({ ...settings, 'baton.nodeUrl': url })
    await code.status('sync', 'key wanted')
    await code.run("Set the Node's Key")
    await code.answer('Key of the node at', 'nonsense')
    assert.match(await code.said('does not take the key'), /Set the Node's Key/)
    await code.clear()
    const { secret: key } = await here.baton(
      'keys',
      'create',
      '--name',
      'vscode',
      ...['read', 'drive', 'sync', 'debug'].flatMap((scope) => ['--scope', scope]),
    )
    await code.run("Set the Node's Key")
    await code.answer('Key of the node at', key)
    await code.said('takes the key')
    await code.row('shop').waitFor()
    await code.clear()
  })
  await step('the local node is stopped', async () => {
    await code.change(settings)
    await code.row('shop').waitFor()
    await code.run('Stop the Local Node')
    await code.said('the local node has ended', 90_000)
    await code.status('sync', 'offline')
    assert.equal(await here.file(), undefined)
  })
}
