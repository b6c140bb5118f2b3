// Every way in that the wizard knows, and a fingerprint that is not the expected one.

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { House } from '../houses.mjs'
import { Provider, tunnel } from '../others.mjs'

const AUDIENCE = 'urn:baton:office'

export default async function ({ step, code, here, room, environment, program, provider: folder }) {
  const provider = await Provider.start(folder, room)
  const office = new House(program, join(room, 'office'), { ...environment, FEDERATION_DIR: join(room, 'office-board') })
  await mkdir(office.folder, { recursive: true, mode: 0o700 })
  let url
  const way = await tunnel(() => url, 'through')
  // The name of the tunnel is a name of the node.
  const hosts = `[server]\nallowed_hosts = ["${new URL(way.url).host}"]\n\n`
  await writeFile(join(office.folder, 'baton.toml'), hosts + provider.settings(AUDIENCE))
  await office.serve()
  url = (await office.file()).url
  const { fingerprint } = await office.baton('peers', 'list')
  const laptop = (await here.baton('peers', 'list')).fingerprint
  const create = ['keys', 'create', '--scope', 'sync', '--for-node', laptop, '--name']
  const key = async (name) => (await office.baton(...create, name)).secret
  const peers = async () => (await here.ask('GET', '/sync/peers')).items.map((peer) => `${peer.name} ${peer.state}`)
  const begin = async (name, address, way) => {
    await code.run('Register a Peer')
    await code.answer('Address of the other node', address)
    await code.answer('What you call it', name)
    await code.pick(way)
  }
  const compared = () => code.page.locator(`.quick-input-widget input[placeholder="${fingerprint}"]`).waitFor()
  const forget = async (name) => here.baton('peers', 'remove', name)
  try {
    await step('a wizard that is left asks no node for anything', async () => {
      await begin('office', url, 'API key')
      await code.page.locator('.quick-input-widget', { hasText: 'API key of the other node' }).waitFor()
      await code.page.keyboard.press('Escape')
      assert.deepEqual(await peers(), ['server confirmed'])
    })
    await step('a node whose fingerprint differs is removed', async () => {
      await begin('office', url, 'API key')
      await code.answer('API key of the other node', await key('one'))
      await compared()
      await code.pick('It differs')
      assert.match(await code.said('office was removed'), /find out who answers/)
      assert.deepEqual(await peers(), ['server confirmed'])
      await code.clear()
    })
    await step('a fingerprint can be compared later, and nothing moves before', async () => {
      await begin('office', url, 'API key')
      await code.answer('API key of the other node', await key('two'))
      await compared()
      await code.pick('Later')
      await code.said('office stays pending')
      await code.row('pending: confirm its fingerprint').waitFor()
      await code.clear()
      await code.run("Confirm a Peer's Fingerprint")
      await code.pick('office')
      await compared()
      await code.pick('It is the same')
      await code.said('office is confirmed and answers')
      await code.clear()
      await forget('office')
    })
    await step('a peer lets in whoever shows a token of its provider', async () => {
      await begin('office', url, 'Entra ID')
      await code.answer('Issuer of the tokens', provider.issuer)
      await code.answer('Client id', 'laptop')
      await code.answer('Scope', 'Sessions.Sync')
      await code.answer('Resource', AUDIENCE)
      await code.answer('Client secret', 'laptop-secret')
      await compared()
      await code.pick('It is the same')
      await code.said('office is confirmed and answers')
      await code.clear()
      await code.run('Export a Session')
      await code.pick('shop')
      await code.pick('To a peer')
      await code.pick('office')
      await code.said('shop is there: office')
      assert.deepEqual(
        (await office.baton('sessions', 'list')).items.map((session) => session.name),
        ['shop'],
      )
      await code.clear()
      await forget('office')
    })
    await step('a peer behind a tunnel wants the token of the tunnel, and a key', async () => {
      await begin('office', way.url, 'Dev tunnel')
      await code.answer('API key of the other node', await key('three'))
      await code.answer('Token of the tunnel', 'of another one')
      assert.match(await code.said('tunnel'), /401/)
      await code.clear()
      await begin('office', way.url, 'Dev tunnel')
      await code.answer('API key of the other node', await key('four'))
      await code.answer('Token of the tunnel', 'through')
      await compared()
      await code.pick('It is the same')
      await code.said('office is confirmed and answers')
      await code.clear()
      await forget('office')
    })
  } finally {
    way.end()
    await office.end()
    provider.end()
  }
}
