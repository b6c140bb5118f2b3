// The story: a person in a real VS Code, two real nodes, and what goes wrong between them.
//
// `node story.mjs PROGRAM CHROMIUM VSIX TOOLS SHOTS PROVIDER`
//
// Each chapter goes on where the one before it ended.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import activation from './chapters/activation.mjs'
import browser from './chapters/browser.mjs'
import conflict from './chapters/conflict.mjs'
import doors from './chapters/doors.mjs'
import files from './chapters/files.mjs'
import icons from './chapters/icons.mjs'
import moving from './chapters/moving.mjs'
import node from './chapters/node.mjs'
import panel from './chapters/panel.mjs'
import peers from './chapters/peers.mjs'
import changing from './chapters/settings.mjs'
import tree from './chapters/tree.mjs'
import trouble from './chapters/trouble.mjs'
import { Code } from './code.mjs'
import { House, until } from './houses.mjs'

const chapters = [node, tree, peers, icons, doors, files, conflict, moving, changing, browser, panel, trouble, activation]
const [program, chromium, vsix, tools, shots, provider] = process.argv.slice(2)
const room = await mkdtemp(join(tmpdir(), 'baton-vscode-'))
const environment = { FEDERATION_DIR: join(room, 'board'), BATON_DATA: join(room, 'here') }
const here = new House(program, join(room, 'here'), environment)
const there = new House(program, join(room, 'there'), { ...environment, FEDERATION_DIR: join(room, 'other-board') })
const cloud = new House(program, join(room, 'cloud'), { ...environment, FEDERATION_DIR: join(room, 'cloud-board') })
const settings = { 'baton.program': program, 'baton.dataFolder': here.folder, 'baton.syncEnabled': true }
let code

async function step(name, work) {
  const start = Date.now()
  await work()
  console.log(`✓ ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`)
}

try {
  await there.serve()
  code = await Code.open({ room, tools, vsix, chromium, environment, settings, shots })
  const told = { step, code, here, there, cloud, room, settings, environment, program, provider }
  for (const chapter of chapters) await chapter(told)
} catch (error) {
  await code?.shot('failure').catch(() => undefined)
  console.error(error)
  process.exitCode = 1
} finally {
  await code?.close()
  await there.end()
  await cloud.end()
  await endBrowsers()
  await rm(room, { recursive: true, force: true })
}

/** Browsers outlive their node: one that has ended is started once more, to end them. */
async function endBrowsers() {
  if ((await here.file()) === undefined) await here.serve()
  const { pid } = await here.file()
  const { items } = await here.baton('sessions', 'list').catch(() => ({ items: [] }))
  for (const { name, state } of items)
    if (state === 'active') await here.baton('sessions', 'abandon', name, '--as', 'kimi').catch(console.error)
  process.kill(pid, 'SIGTERM')
  await until('the node to end', async () => (await here.file()) === undefined).catch(console.error)
}
