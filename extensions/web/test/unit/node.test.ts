import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effect } from '@preact/signals'
import { events } from '../../src/node/events.ts'
import { failureOf, refusal, unconfirmed } from '../../src/node/failure.ts'
import { codeIn, isAnother } from '../../src/node/keep.ts'
import { Writes } from '../../src/writes.ts'

function stream(...chunks: string[]): ReadableStream<Uint8Array> {
  const bytes = chunks.map((chunk) => new TextEncoder().encode(chunk))
  return new ReadableStream({
    start(controller) {
      for (const chunk of bytes) controller.enqueue(chunk)
      controller.close()
    },
  })
}

test('events are read wherever they are cut', async () => {
  const told = []
  const chunks = [
    'event: ses',
    'sions\ndata: {}\n\n:\n\neve',
    'nt: snapshots\r\ndata: {"id":\r\ndata: 1}\r\n',
    '\r\n',
    'data: cut',
  ]
  for await (const event of events(stream(...chunks))) told.push(event)
  assert.deepEqual(told, [
    { event: 'sessions', data: '{}' },
    { event: 'snapshots', data: '{"id":\n1}' },
  ])
})

test('an event without an end is not waited for', async () => {
  await assert.rejects(async () => {
    for await (const _ of events(stream('data: '.padEnd(2 << 20, 'x')))) assert.fail()
  }, /too much at once/)
})

test('a code is taken from the address, and nothing else is one', () => {
  assert.equal(codeIn(`#code=${'a'.repeat(43)}`), 'a'.repeat(43))
  for (const none of ['', '#/', '#code=', '#code=short', `#/sessions/code=${'a'.repeat(43)}`, `#code=${'a'.repeat(43)}&b`])
    assert.equal(codeIn(none), undefined, none)
})

test('an address asks before it makes somebody else of who is signed in, or was', () => {
  assert.ok(!isAnother({ value: undefined, owner: undefined }, 'ada'), 'nobody is known here')
  assert.ok(!isAnother({ value: 'v', owner: 'ada' }, 'ada'))
  assert.ok(!isAnother({ value: undefined, owner: 'ada' }, 'ada'), 'another tab of hers')
  assert.ok(isAnother({ value: 'v', owner: 'ada' }, 'mallory'))
  assert.ok(isAnother({ value: undefined, owner: 'ada' }, 'mallory'), 'a new tab of her browser')
  assert.ok(isAnother({ value: 'v', owner: undefined }, 'ada'), 'nobody knows whose it is')
})

test('a refusal says what the node says, with its hint', () => {
  const problem = { type: 'x', title: 'No', status: 409, code: 'wrong_state', detail: 'expected it closed', hint: 'close it' }
  const failure = refusal(409, problem)
  assert.deepEqual([failure.kind, failure.message, failure.hint], ['node', 'expected it closed', 'close it'])
  assert.equal(refusal(401, problem).kind, 'refused')
  assert.equal(refusal(409, JSON.stringify(problem)).code, 'wrong_state')
  assert.equal(refusal(502, '<html>').kind, 'unreachable')
  assert.equal(failureOf(new TypeError('Failed to fetch')).kind, 'unreachable')
  const left = unconfirmed(failureOf(new TypeError('Failed to fetch')))
  assert.equal(left.message, 'the node did not confirm that it signed this page out: the node does not answer')
})

test('who reads what was written hears of the next write of it', () => {
  const writes = new Writes()
  const heard: string[] = []
  const stop = effect(() => {
    heard.push(writes.stamp('a'))
  })
  writes.touch('b')
  writes.touch('a')
  writes.all()
  stop()
  writes.touch('a')
  assert.deepEqual(heard, ['0.0', '0.0', '0.1', '1.0'])
  for (let id = 0; id < 3_000; id++) writes.touch(String(id))
  assert.notEqual(writes.stamp('0'), '1.1')
})
