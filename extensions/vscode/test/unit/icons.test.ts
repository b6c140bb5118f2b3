// Icons of sessions: asked for where they are, a few at a time, and taken only when they are pictures.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import createClient from 'openapi-fetch'
import type { paths } from '../../../shared/api.ts'
import { forEach, iconOf } from '../../src/icons.ts'
import type { Node } from '../../src/node/node.ts'

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
const never = new AbortController().signal

/** Runs `story` with a node that has these at these paths; tells which paths were asked for. */
async function withNode(has: Record<string, Buffer>, story: (node: Node, asked: string[]) => Promise<void>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const found = has[path]
    if (found !== undefined) return void response.setHeader('Content-Type', 'image/png').end(found)
    const problem = { code: 'no_snapshot', detail: 'none', status: 404, title: 'none' }
    response.writeHead(404, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(problem))
  }).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await story({ api: createClient<paths>({ baseUrl }) } as Node, asked)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('the icon here comes first, and then the one at the peer', async () => {
  const shown = `data:image/png;base64,${PNG.toString('base64')}`
  const has = { '/sessions/a/icon': PNG, '/sync/icons/p/b': PNG }
  await withNode(has, async (node, asked) => {
    assert.equal(await iconOf(node, { id: 'a', here: true, peer: 'p' }, never), shown)
    assert.equal(await iconOf(node, { id: 'b', here: true, peer: 'p' }, never), shown)
    assert.equal(await iconOf(node, { id: 'b', here: false, peer: 'p' }, never), shown)
    assert.equal(await iconOf(node, { id: 'b', here: true }, never), undefined)
    const expected = ['/sessions/a/icon', '/sessions/b/icon', '/sync/icons/p/b', '/sync/icons/p/b', '/sessions/b/icon']
    assert.deepEqual(asked, expected)
  })
})

test('what is no picture, or too large for an icon, is not shown, and a silent node is no error', async () => {
  const large = Buffer.concat([PNG, Buffer.alloc(16 << 10)])
  const has = { '/sessions/page/icon': Buffer.from('<html>'), '/sessions/large/icon': large }
  let silent: Node | undefined
  await withNode(has, async (node) => {
    silent = node
    for (const id of ['page', 'large', 'none']) assert.equal(await iconOf(node, { id, here: true }, never), undefined)
  })
  assert.equal(await iconOf(silent as Node, { id: 'page', here: true, peer: 'p' }, never), undefined)
})

test('a few are asked for at once, no more than a list shows, and none once it is closed', async () => {
  const [stop, items] = [new AbortController(), Array.from({ length: 80 }, (_, at) => at)]
  let [running, most, done] = [0, 0, 0]
  const work = async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise((next) => setImmediate(next))
    running -= 1
    done += 1
  }
  await forEach(items, stop.signal, work)
  assert.deepEqual([most, done], [6, 50])
  await forEach(items, stop.signal, async () => {
    await work()
    stop.abort()
  })
  assert.ok(done <= 50 + 6, `${done}`)
})
