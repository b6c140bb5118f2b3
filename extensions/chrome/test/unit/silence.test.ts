// A connection that is cut says nothing: the heartbeat finds out, and the link comes back.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CODES, FINAL, REASONS } from '../../src/link/codes.ts'
import { Link } from '../../src/link/link.ts'
import { Refused } from '../../src/link/node.ts'

/** A socket that tells what a test wants it to. */
class FakeSocket {
  bufferedAmount = 0
  readonly sent: string[] = []
  isClosed = false
  onopen: (() => void) | undefined
  onmessage: ((event: { data: string }) => void) | undefined
  onclose: ((event: { code: number }) => void) | undefined

  constructor(readonly protocols: string[]) {}

  send(text: string): void {
    this.sent.push(text)
  }

  close(): void {
    this.isClosed = true
  }
}

const GRANT = { url: 'ws://localhost/ws', connection: { ticket: 'T', cocoons: [], response_body_max_size: undefined, redact: { names: [], allow: [] } } }
const turn = () => new Promise<void>((go) => setImmediate(go))

function linked(connect: () => Promise<typeof GRANT | undefined> = () => Promise.resolve(GRANT)) {
  const sockets: FakeSocket[] = []
  const told: string[] = []
  const ends = {
    connect,
    opened: () => told.push('opened'),
    heard: () => told.push('heard'),
    closed: () => told.push('closed'),
    revoked: () => told.push('revoked'),
    changed: () => {},
  }
  const link = new Link(ends, (_url, protocols) => {
    const socket = new FakeSocket(protocols)
    sockets.push(socket)
    return socket as unknown as WebSocket
  })
  return { link, sockets, told, last: () => sockets.at(-1) as FakeSocket }
}

test('a heartbeat that does not come back means that the connection is lost', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_700_000_000_000 })
  const { link, sockets, last } = linked()
  link.start()
  await turn()
  assert.deepEqual(last().protocols, ['baton.v1', 'baton.ticket.T'])
  last().onopen?.()
  assert.equal(link.state.state, 'connected')
  t.mock.timers.tick(20_000)
  assert.deepEqual(last().sent, ['{"type":"browser_debug_heartbeat"}'])
  last().onmessage?.({ data: '{"type":"browser_debug_heartbeat"}' })
  t.mock.timers.tick(19_000)
  assert.equal(link.state.state, 'connected')
  t.mock.timers.tick(1_000)
  t.mock.timers.tick(5_000)
  assert.equal(link.state.state, 'waiting')
  assert.ok(sockets[0]?.isClosed)
  t.mock.timers.tick(250)
  await turn()
  assert.equal(sockets.length, 2)
})

test('while nothing answers, an attempt begins every 4 s or sooner', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_700_000_000_000 })
  const { link, sockets } = linked()
  link.start()
  await turn()
  for (let second = 0; second < 60; second += 1) {
    t.mock.timers.tick(1_000)
    await turn()
  }
  assert.ok(sockets.length >= 60 / 5, `${sockets.length} attempts in a minute`)
})

test('a revoked pairing stops it, and a node that ends does not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_700_000_000_000 })
  const { link, last, told, sockets } = linked()
  link.start()
  await turn()
  last().onopen?.()
  last().onclose?.({ code: 1001 })
  assert.equal(link.state.state, 'waiting')
  t.mock.timers.tick(250)
  await turn()
  last().onopen?.()
  last().onclose?.({ code: 4403 })
  assert.equal(link.state.state, 'pair_again')
  assert.ok(told.includes('revoked'))
  link.start()
  t.mock.timers.tick(60_000)
  await turn()
  assert.equal(sockets.length, 2, 'it does not try again')
})

test('of two browsers with one pairing the one that is sent away stays away, and says why', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_700_000_000_000 })
  const { link, last, told, sockets } = linked()
  link.start()
  await turn()
  last().onopen?.()
  last().onclose?.({ code: CODES.replaced })
  assert.deepEqual(link.state, { state: 'pair_again', why: FINAL.replaced })
  assert.ok(told.includes('revoked'))
  link.start()
  t.mock.timers.tick(600_000)
  await turn()
  assert.equal(sockets.length, 1)
})

test('what would come again at once is not tried at once', async (t) => {
  for (const end of ['too_many', 'too_long', 'garbage'] as const) {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_700_000_000_000 })
    const { link, last, sockets } = linked()
    link.start()
    await turn()
    last().onopen?.()
    last().onclose?.({ code: CODES[end] })
    assert.equal(link.state.state === 'waiting' && link.state.why, REASONS[end])
    t.mock.timers.tick(29_000)
    await turn()
    assert.equal(sockets.length, 1)
    t.mock.timers.tick(1_000)
    await turn()
    assert.equal(sockets.length, 2)
    t.mock.timers.reset()
  }
})

test('a key that is not known stops it as well', async () => {
  const { link, told } = linked(() => Promise.reject(new Refused(401, 'the key is not known')))
  link.start()
  await turn()
  assert.equal(link.state.state, 'pair_again')
  assert.deepEqual(told, ['revoked'])
})
