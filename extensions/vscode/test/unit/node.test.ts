// A node is asked who it is before it sees a key; whoever else answers gets none.
//
// The server here stands in for what no real node does: another version, a stranger, silence.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { events } from '../../src/node/events.ts'
import { Failure } from '../../src/node/failure.ts'
import { checkVersion, connect } from '../../src/node/node.ts'
import { dataFolder, keyName, readNodeFile } from '../../src/node/place.ts'

const HEALTH = { status: 'ok', version: '0.1.0', node_id: 'n1', identity: {} }

/** Runs `story` against a server that answers so. */
async function answering(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  story: (url: URL) => Promise<void>,
) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  try {
    await story(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const kindOf = (request: Promise<unknown>) =>
  request.then(
    () => 'connected',
    (error: unknown) => (error instanceof Failure ? error.kind : String(error)),
  )

const place = (url: URL, key: string | undefined = 'secret', nodeId: string | undefined = undefined) => ({
  url,
  key,
  nodeId,
  pid: undefined,
})

test('a stranger and another node never see the key', async () => {
  const seen: (string | undefined)[] = []
  const answer = (body: unknown) => (request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.headers.authorization)
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
  }
  await answering(answer({ hello: 1 }), async (url) => assert.equal(await kindOf(connect(place(url), '0.1.0')), 'not_baton'))
  await answering(answer(HEALTH), async (url) => assert.equal(await kindOf(connect(place(url, 'secret', 'n2'), '0.1.0')), 'none'))
  await answering(answer({ ...HEALTH, version: '0.2.0' }), async (url) =>
    assert.equal(await kindOf(connect(place(url), '0.1.0')), 'version'),
  )
  assert.deepEqual(seen, [undefined, undefined, undefined])
})

test('a web page in the place of a node, a wrong key and no key are told apart', async () => {
  const page = (_: IncomingMessage, response: ServerResponse) => void response.end('<html>')
  await answering(page, async (url) => assert.equal(await kindOf(connect(place(url), '0.1.0')), 'not_baton'))
  const refusing = (request: IncomingMessage, response: ServerResponse) => {
    const isHealth = request.url === '/health'
    const problem = {
      type: '',
      title: 'an API key is needed',
      status: 401,
      code: 'unauthenticated',
      detail: 'the key is not known',
    }
    response
      .writeHead(isHealth ? 200 : 401, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(isHealth ? HEALTH : problem))
  }
  await answering(refusing, async (url) => {
    assert.equal(await kindOf(connect(place(url), '0.1.0')), 'refused')
    assert.equal(await kindOf(connect(place(url, undefined), '0.1.0')), 'refused')
  })
})

test('nobody at the address is said to be unreachable', async () => {
  let gone: URL | undefined
  await answering(
    () => undefined,
    async (url) => {
      gone = url
    },
  )
  assert.equal(await kindOf(connect(place(gone as URL), '0.1.0')), 'unreachable')
})

test('versions of one line fit', () => {
  checkVersion('0.1.7', '0.1.0')
  checkVersion('1.4.0', '1.2.0')
  for (const other of ['0.2.0', '1.1.0', 'new'])
    assert.throws(() => checkVersion(other, '0.1.0'), /expected a node of version 0.1, found/)
})

test('events come whole, however they are cut', async () => {
  const text = ': hi\n\nevent: board\r\ndata: {"a":\ndata: "ü"}\n\ndata: x\n\nevent: lost\n'
  const bytes = new TextEncoder().encode(text)
  for (const length of [1, 3, bytes.length]) {
    const chunks = (async function* () {
      for (let at = 0; at < bytes.length; at += length) yield bytes.slice(at, at + length)
    })()
    const found = []
    for await (const event of events(chunks)) found.push(event)
    assert.deepEqual(found, [
      { event: 'board', data: '{"a":\n"ü"}' },
      { event: 'message', data: 'x' },
    ])
  }
})

test('node.json that leads elsewhere is not believed', () => {
  const file = (url: string) => JSON.stringify({ url, pid: 7, node_id: 'n1' })
  assert.equal(readNodeFile(file('http://127.0.0.1:7420/'))?.pid, 7)
  assert.equal(readNodeFile(file('http://example.org/')), undefined)
  assert.equal(readNodeFile('{'), undefined)
  assert.equal(readNodeFile('null'), undefined)
})

test('the data folder is the one that the command finds', () => {
  const none = { dataFolder: undefined }
  assert.equal(dataFolder(none, { XDG_DATA_HOME: '/srv/share' }, 'linux'), '/srv/share/baton')
  assert.equal(dataFolder(none, { BATON_DATA: '/srv/baton' }, 'linux'), '/srv/baton')
  assert.equal(dataFolder({ dataFolder: '/mine' }, { BATON_DATA: '/srv/baton' }, 'linux'), '/mine')
  assert.match(dataFolder(none, { XDG_DATA_HOME: 'relative' }, 'linux'), /\.local\/share\/baton$/)
})

test('a key is kept for one address', () => {
  assert.notEqual(keyName(new URL('https://a.test')), keyName(new URL('https://b.test')))
})
