// Without a node and with one: what a person does first.

import assert from 'node:assert/strict'

export default async function ({ step, code, settings }) {
  await step('without a node it says so, and what to do', async () => {
    await code.status('sync', 'offline')
    await code.run('List Remote Sessions')
    assert.match(await code.said('no node runs on'), /What to do: run "Baton: Start the Local Node"/)
    await code.clear()
  })
  await step('a program that is not there is named, with what to do', async () => {
    await code.live({ ...settings, 'baton.program': '/nowhere/baton' })
    await code.run('Start the Local Node')
    assert.match(await code.said('expected a program at /nowhere/baton'), /set baton.program to the path/)
    await code.clear()
    await code.live(settings)
  })
  await step('it starts a node of this machine', async () => {
    await code.run('Start the Local Node')
    await code.said('the local node runs')
    await code.status('sync', 'no peers')
    await code.clear()
  })
}
