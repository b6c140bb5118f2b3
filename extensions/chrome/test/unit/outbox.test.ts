// A socket that does not keep up: nothing more is put there, and the oldest that waits is dropped.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserMessage } from '../../src/protocol.ts'
import { Outbox } from '../../src/tabs/outbox.ts'
import { Tab } from '../../src/tabs/tab.ts'

test('secrets that wait are hidden when the node does not take them, or the person wants it no longer', () => {
  const secret = 'c0rrectHorse7Battery'
  const link = {
    state: { state: 'connected' as const, since: 0 },
    buffered: 0,
    send: (message: BrowserMessage | string) => sent.push(typeof message === 'string' ? message : JSON.stringify(message)) > 0,
  }
  const sent: string[] = []
  const tab = Tab.create(1, { id: 'shop', name: 'shop', origin: 'http://shop.localhost', path: '/' }, 'http://shop.localhost/')
  const outbox = new Outbox({ link, tabs: () => [tab], browserId: () => 'B', gone: () => {}, noted: () => {} })
  const accepted = (last_seq: number, revealed?: boolean) =>
    outbox.accepted({ type: 'browser_debug_tab_accepted', offered: tab.offered ?? '', token: 'tab12345', last_seq, resume: 'grant', ...(revealed !== undefined && { revealed }) })
  const say = () => tab.put({ type: 'browser_debug_console_event', entry: { timestamp: 1, level: 'log', args: [], message: `token: ${secret}` } }, 100)
  const isSent = () => {
    outbox.flush(tab)
    return sent.splice(0).join('').includes(secret)
  }
  tab.note.offer = 'header'
  outbox.offer(tab)
  // A node that says so without being asked changes nothing.
  accepted(0, true)
  say()
  assert.equal(isSent(), false)

  tab.reveal(true)
  outbox.reveals(tab)
  say()
  assert.ok(JSON.parse(sent.at(-1) ?? '').reveal === true && !isSent(), 'not before the node takes them')
  accepted(1, true)
  assert.equal(isSent(), false, 'what was hidden stays so')
  say()
  assert.equal(isSent(), true)

  // The connection is lost, and the next node does not take them: what was sent before goes again, hidden.
  tab.disconnected()
  outbox.offer(tab)
  accepted(0)
  assert.equal(isSent(), false)
  outbox.reveals(tab)
  accepted(3, true)
  say()
  tab.reveal(false)
  assert.equal(isSent(), false)
})

test('events are sent together a moment later, and at once when there are many or a large one', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: string[] = []
  const link = {
    state: { state: 'connected' as const, since: 0 },
    buffered: 0,
    send: (message: BrowserMessage | string) => sent.push(typeof message === 'string' ? message : JSON.stringify(message)) > 0,
  }
  const tab = Tab.create(1, { id: 'shop', name: 'shop', origin: 'http://shop.localhost', path: '/' }, 'http://shop.localhost/')
  const outbox = new Outbox({ link, tabs: () => [tab], browserId: () => 'B', gone: () => {}, noted: () => {} })
  tab.note.offer = 'header'
  outbox.offer(tab)
  outbox.accepted({ type: 'browser_debug_tab_accepted', offered: 'header', token: 'tab12345', last_seq: 0, resume: 'grant' })
  sent.length = 0
  const finish = (body: string) => {
    tab.put({ type: 'browser_debug_network_event', source: 'debugger', event: 'finished', data: { request_id: 'R', timestamp: 1, body } }, 100_000)
    outbox.soon(tab)
  }
  finish('one')
  finish('two')
  assert.equal(sent.length, 0)
  t.mock.timers.tick(50)
  assert.equal(sent.length, 2)
  finish('x y '.repeat(20_000))
  assert.equal(sent.length, 3)
  for (let at = 0; at < 5_000; at += 1) finish('more')
  t.mock.timers.tick(50)
  assert.equal(sent.length, 5_003)
  assert.equal(tab.ring.dropped, 0)
})

test('a full socket is left alone until it is not, and what was dropped is counted', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: string[] = []
  const link = {
    state: { state: 'connected' as const, since: 0 },
    buffered: 0,
    send: (message: BrowserMessage | string) => sent.push(typeof message === 'string' ? message : JSON.stringify(message)) > 0,
  }
  const tab = Tab.create(1, { id: 'shop', name: 'shop', origin: 'http://shop.localhost', path: '/' }, 'http://shop.localhost/')
  const outbox = new Outbox({ link, tabs: () => [tab], browserId: () => 'B', gone: () => {}, noted: () => {} })
  tab.note.offer = 'header'
  outbox.offer(tab)
  outbox.accepted({ type: 'browser_debug_tab_accepted', offered: 'header', token: 'tab12345', last_seq: 0, resume: 'grant' })
  sent.length = 0

  const say = (text: string) => {
    tab.put({ type: 'browser_debug_console_event', entry: { timestamp: 1, level: 'log', args: [], message: text } }, 100)
    outbox.flush(tab)
  }
  say('one')
  link.buffered = 9 << 20
  for (let at = 0; at < 1_100; at += 1) say(`more ${at}`)
  assert.equal(sent.length, 1)
  assert.equal(tab.ring.dropped, 100)
  link.buffered = 0
  t.mock.timers.tick(50)
  assert.equal(sent.length, 1_001)
  const numbers = sent.map((text) => (JSON.parse(text) as { seq: number; token: string }).seq)
  assert.deepEqual([numbers[0], numbers[1], numbers.at(-1)], [1, 102, 1_101])
})

test('a tab for which the node has no room is offered again, and is not forgotten', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: string[] = []
  const link = {
    state: { state: 'connected' as const, since: 0 },
    buffered: 0,
    send: (message: BrowserMessage | string) => sent.push(typeof message === 'string' ? message : message.type) > 0,
  }
  const tab = Tab.create(1, { id: 'shop', name: 'shop', origin: 'http://shop.localhost', path: '/' }, 'http://shop.localhost/')
  const outbox = new Outbox({ link, tabs: () => [tab], browserId: () => 'B', gone: () => {}, noted: () => {} })
  tab.note.offer = 'header'
  outbox.offer(tab)
  outbox.refused({ type: 'browser_debug_error', code: 'too_many_tabs', message: 'expected fewer', offered: 'header' })
  assert.deepEqual([tab.grant(), tab.refusal, sent.length], ['header', 'expected fewer', 1])
  t.mock.timers.tick(15_000)
  assert.deepEqual(sent, ['browser_debug_tab_available', 'browser_debug_tab_available'])
  outbox.accepted({ type: 'browser_debug_tab_accepted', offered: 'header', token: 'tab12345', last_seq: 0 })
  assert.deepEqual([tab.isAccepted, tab.refusal], [true, undefined])
})
