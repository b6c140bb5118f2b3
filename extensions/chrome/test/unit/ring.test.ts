// Events keep their numbers; what does not fit leaves a hole and is counted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ring } from '../../src/tabs/ring.ts'

function sendAll(ring: Ring): number[] {
  const sent: number[] = []
  for (let next = ring.next(); next !== undefined; next = ring.next()) {
    sent.push(next.seq)
    ring.sent = next.seq
  }
  return sent
}

test('events are sent in order, and again from where the node has them', () => {
  const ring = new Ring()
  for (let at = 0; at < 5; at += 1) ring.push('{}')
  assert.deepEqual(sendAll(ring), [1, 2, 3, 4, 5])
  ring.rewind(3)
  assert.deepEqual(sendAll(ring), [4, 5])
  ring.rewind(99)
  assert.deepEqual(sendAll(ring), [], 'nobody can have what was not given')
  ring.push('{}')
  assert.deepEqual(sendAll(ring), [6])
})

test('the oldest go, and those that were not sent are counted', () => {
  const ring = new Ring({}, { events: 3, bytes: 100 })
  ring.push('{}')
  assert.deepEqual(sendAll(ring), [1])
  for (let at = 0; at < 5; at += 1) ring.push('{}')
  assert.equal(ring.dropped, 2)
  assert.deepEqual(sendAll(ring), [4, 5, 6])
  ring.push(`"${'ä'.repeat(60)}"`)
  assert.equal(ring.dropped, 3, 'what is too long never fits: it counts bytes, not characters')
  ring.push('{}')
  assert.deepEqual(sendAll(ring), [8])
})

test('a life that does not know the last number counts on behind it', () => {
  const ring = new Ring({ last: 10, sent: 10 })
  ring.push('{}')
  ring.push('{}')
  ring.skipTo(13)
  ring.rewind(12)
  assert.deepEqual(sendAll(ring), [14, 15])
  assert.equal(ring.last, 15)
  const empty = new Ring({ last: 10 })
  empty.skipTo(12)
  empty.push('{}')
  assert.equal(empty.last, 13)
})
