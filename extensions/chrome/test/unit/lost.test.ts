// More is open than is remembered: the oldest goes, and a hole in the numbers says so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPEN_REQUESTS } from '../../src/limits.ts'
import type { NetworkChange, TabEvent } from '../../src/protocol.ts'
import { BaseLayer, type Ears } from '../../src/record/base.ts'
import type { Host } from '../../src/record/host.ts'
import { Recorder } from '../../src/record/recorder.ts'
import type { Bodies } from '../../src/record/bodies.ts'
import { makeRoom } from '../../src/room.ts'
import { Ring } from '../../src/tabs/ring.ts'
import type { Tab } from '../../src/tabs/tab.ts'

test('only the oldest go, and there is room for more', () => {
  const kept = new Map(Array.from({ length: 100 }, (_, at) => [at, at]))
  const gone: number[] = []
  makeRoom(kept, 101, (key) => gone.push(key))
  assert.equal(gone.length, 0)
  makeRoom(kept, 100, (key) => gone.push(key))
  assert.deepEqual(gone, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  assert.equal(kept.size, 90)
})

test('what is lost is a hole in the numbers', () => {
  const ring = new Ring()
  ring.push('{"a":1}')
  ring.lose(3)
  assert.equal(ring.next()?.seq, 1)
  ring.sent = 1
  assert.equal(ring.next(), undefined)
  ring.push('{"b":1}')
  assert.equal(ring.next()?.seq, 5)
  assert.equal(ring.dropped, 3)
})

test('of too many open requests the newest end as told, and each that was forgotten is a loss', () => {
  const tab = { note: { tabId: 1, cocoon: { origin: 'http://a.test', path: '/' }, isInside: true } } as unknown as Tab
  const ended: string[] = []
  let lost = 0
  const ears: Ears = {
    heads: () => {},
    brings: () => {},
    find: () => tab,
    misses: () => undefined,
    isTold: () => false,
    tell: (_tab: Tab, change: NetworkChange) => {
      if (change.event === 'finished') ended.push(change.data.request_id)
    },
    loses: (of, events) => {
      assert.equal(of, tab)
      lost += events
    },
  }
  const layer = new BaseLayer(ears)
  const count = OPEN_REQUESTS + 1
  const details = (at: number) => ({ requestId: String(at), tabId: 1, url: 'http://a.test/x', method: 'GET', type: 'xmlhttprequest', frameId: 0, timeStamp: at })
  for (let at = 0; at < count; at += 1) layer.begins(details(at) as unknown as chrome.webRequest.OnBeforeRequestDetails)
  for (let at = 0; at < count; at += 1) layer.ends(details(at) as unknown as chrome.webRequest.OnCompletedDetails)
  assert.equal(lost, OPEN_REQUESTS / 10)
  assert.equal(ended.length + lost, count)
  assert.equal(ended[0], String(lost))
})

test('the debugger tells of what is forgotten as well, and of what found no place while it waited', () => {
  const events: TabEvent[] = []
  let lost = 0
  const host: Host = {
    isWithin: () => true,
    isOrigin: () => true,
    tell: (event) => events.push(event),
    loses: (count) => (lost += count),
    sends: () => {},
    shows: () => {},
    below: () => {},
    command: () => Promise.reject(new Error('no')),
    bodyBytes: () => 0,
    toldUntil: 0,
  }
  const recorder = new Recorder(host, {} as Bodies)
  const sent = (at: number) => {
    const request = { url: 'http://a.test/x', method: 'GET', headers: {} }
    recorder.hear(undefined, 'Network.requestWillBeSent', { requestId: String(at), loaderId: 'L', request, timestamp: at, wallTime: at, type: 'Fetch', frameId: 'F' })
  }
  for (let at = 0; at < OPEN_REQUESTS + 2; at += 1) sent(at)
  recorder.begins({ id: 'F', loaderId: 'L', url: 'http://a.test/' } as never, true)
  assert.equal(lost, 2)
  assert.equal(events.length, OPEN_REQUESTS)
  sent(OPEN_REQUESTS + 2)
  assert.equal(lost, 2 + OPEN_REQUESTS / 10)
})
