// The rules of coming back, and what addresses and pages are accepted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSignalingUrl, originOf, permissionFor } from '../../src/link/address.ts'
import { delay } from '../../src/link/backoff.ts'
import { readRelayMessage } from '../../src/protocol.ts'
import { cocoonOf, isWithin, readCocoons } from '../../src/tabs/scope.ts'

test('waits grow to 3 s, and after ten minutes to 30 s, never all at once', () => {
  const waits = [0, 1, 2, 3, 4, 50].map((attempt) => delay(attempt, 0, 1))
  assert.deepEqual(waits, [250, 500, 1_000, 2_000, 3_000, 3_000])
  assert.equal(delay(3, 0, 0), 1_000, 'half of it at least')
  assert.equal(delay(50, 10 * 60_000, 1), 30_000)
})

test('addresses of nodes: loopback, or https', () => {
  assert.equal(originOf('127.0.0.1:7420'), 'http://127.0.0.1:7420')
  assert.equal(originOf('ws://localhost:1/x'), 'http://localhost:1')
  assert.equal(originOf('https://node.test/'), 'https://node.test')
  assert.throws(() => originOf('http://node.test'), /expected https/)
  assert.throws(() => originOf('javascript://x'), /begins with http/)
  assert.throws(() => originOf('http://'), /expected an address/)
  assert.equal(checkSignalingUrl('wss://node.test/api/ws?a=1'), 'wss://node.test/api/ws?a=1')
  assert.throws(() => checkSignalingUrl('ws://node.test/'), /expected https/)
  assert.equal(permissionFor('http://127.0.0.1:7420'), undefined)
  assert.equal(permissionFor('https://node.test:8443'), 'https://node.test/*')
})

test('a page belongs to the cocoon of its origin whose path says most', () => {
  const cocoons = readCocoons([
    { id: 'all', name: 'All', origin: 'http://localhost:8081', path: '/' },
    { id: 'shop', name: 'Shop', origin: 'http://localhost:8081', path: '/proxy/shop' },
    { id: 'bad', origin: 'file:///etc' },
    'nothing',
  ])
  assert.equal(cocoons.length, 2)
  assert.equal(cocoonOf('http://localhost:8081/proxy/shop/cart', cocoons)?.id, 'shop')
  assert.equal(cocoonOf('http://localhost:8081/proxy/shop', cocoons)?.id, 'shop')
  assert.equal(cocoonOf('http://localhost:8081/proxy/shopping', cocoons)?.id, 'all')
  assert.equal(cocoonOf('http://localhost:8082/', cocoons), undefined)
  assert.ok(cocoons[1] !== undefined && !isWithin('about:blank', cocoons[1]))
})

test('messages that make no sense are none', () => {
  for (const text of ['', '[]', 'null', '{"type":"other"}', '{"type":"browser_debug_tab_accepted","offered":"a"}']) {
    assert.equal(readRelayMessage(text), undefined, text)
  }
  assert.deepEqual(readRelayMessage('{"type":"browser_debug_heartbeat","x":1}'), { type: 'browser_debug_heartbeat' })
})
