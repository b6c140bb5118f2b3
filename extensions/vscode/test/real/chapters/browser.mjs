// A session in a real browser, and who drives it.

import assert from 'node:assert/strict'

export default async function ({ step, code, here }) {
  await step('a session is resumed in a real browser, and handed over', async () => {
    await code.run('Resume a Session')
    await code.pick('shop')
    await code.said('shop is back', 120_000)
    await code.row('Active').waitFor()
    await code.run('Hand Over a Session')
    await code.pick('shop')
    await code.pick('kimi')
    await code.said('kimi drives shop')
    const { items } = await here.baton('sessions', 'list')
    assert.equal(items.find((session) => session.name === 'shop').agent.agent, 'kimi')
    await code.clear()
  })
}
