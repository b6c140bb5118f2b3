// What the panel shows, and what its page and the extension believe of each other.

import assert from 'node:assert/strict'
import test from 'node:test'
import { duration } from '../../../shared/amounts.ts'
import { detailsOf } from '../../../shared/tab/details.ts'
import { fitsLine, fitsRequest } from '../../../shared/tab/filter.ts'
import { heir } from '../../../shared/tab/heir.ts'
import { type Answer, List } from '../../../shared/tab/list.ts'
import { type Keyed, LEVELS, type Line, lineOf, requestOf } from '../../../shared/tab/shown.ts'
import { NOTHING } from '../../src/known.ts'
import { Failure } from '../../src/node/failure.ts'
import { readAsked, readTold } from '../../src/panel/messages.ts'
import { page } from '../../src/panel/page.ts'
import { failed } from '../../src/panel/state.ts'
import { rows } from '../../src/view/rows.ts'

interface Item extends Keyed {
  word: string
}

const answer = (items: Item[], cursor: number, rest: Partial<Answer<Item>> = {}): Answer<Item> => ({
  items,
  cursor,
  gaps: [],
  older: false,
  ...rest,
})
const item = (key: number, word = 'new') => ({ key, word })
const keys = (items: Item[]) => items.map(({ key }) => key)

test('what has changed takes the place of what it was, and the oldest go', () => {
  const list = new List<Item>('requests', 3)
  list.take(answer([item(1), item(2)], 5))
  list.take(answer([item(1, 'changed'), item(4), item(3)], 9))
  assert.equal(list.cursor, 9)
  const whole = list.whole()
  assert.deepEqual(keys(whole.put), [2, 3, 4])
  assert.equal(whole.floor, 1)
  assert.equal(whole.missing, 'Only the latest requests are shown.')
  assert.deepEqual(list.take(answer([item(1, 'late')], 10)).put, [])
})

test('what was cleared stays away, also when it changes', () => {
  const list = new List<Item>('requests', 2000)
  list.take(answer([item(1), item(2)], 2, { gaps: [{ reason: 'first_load' }] }))
  assert.deepEqual(list.clear(), { anew: false, put: [], floor: 2, missing: '' })
  assert.deepEqual(keys(list.take(answer([item(2, 'ended'), item(3)], 4)).put), [3])
  assert.deepEqual(keys(list.whole().put), [3])
})

test('numbers of another life of the tab begin anew', () => {
  const list = new List<Item>('lines', 2000)
  list.take(answer([item(70), item(71)], 71))
  const change = list.take(answer([item(1)], 1, { gaps: [{ reason: 'restarted' }] }))
  assert.ok(change.anew)
  assert.deepEqual(keys(list.whole().put), [1])
  // Within one life it is a mark only.
  assert.ok(!list.take(answer([item(3)], 3, { gaps: [{ reason: 'restarted', seq: 2 }] })).anew)
  assert.deepEqual(keys(list.whole().put), [1, 3])
})

test('what is missing is said once for each reason', () => {
  const list = new List<Item>('lines', 2000)
  list.take(answer([], 1, { gaps: [{ reason: 'events_lost', missing: 2 }, { reason: 'disconnected' }] }))
  const { missing } = list.take(answer([], 2, { gaps: [{ reason: 'events_lost', missing: 3, at_least: true }] }))
  assert.equal(
    missing,
    'At least 5 lines are missing: lost on their way from the browser. ' +
      'Some lines may be missing: the browser was not connected.',
  )
})

const entry = { timestamp: 1, level: 'error', message: 'no tea', seq: 7, source: 'http://a.test/tea.js', line: 3 } as const
const line: Line = lineOf(entry)
const sent = {
  number: 4,
  request_id: '9.1',
  method: 'POST',
  url: 'http://a.test/cart',
  timestamp: 0,
  resource_type: 'fetch',
} as const

test('a request is told in words while it is on its way and after it has ended', () => {
  assert.deepEqual([requestOf(sent).status, requestOf(sent).end], ['pending', 'pending'])
  const ended = requestOf({ ...sent, ended: true, status: 404, duration_ms: 1234, transfer_size: 2048 })
  assert.deepEqual(ended, {
    key: 4,
    method: 'POST',
    address: 'http://a.test/cart',
    status: '404',
    end: 'bad',
    type: 'fetch',
    duration: '1.23 s',
    size: '2.0 KiB',
  })
  assert.equal(requestOf({ ...sent, ended: true, error: 'net::ERR_FAILED' }).status, 'failed')
  assert.equal(duration(12), '12 ms')
})

test('details have every header value, and say of what only a part is there', () => {
  const details = detailsOf({
    ...sent,
    ended: true,
    status: 200,
    response_headers: { 'set-cookie': '[redacted]\n[redacted]' },
    response_body: 'dGVh',
    response_body_base64: true,
    response_body_truncated: true,
  })
  assert.deepEqual(
    details.sections.map(({ title, facts, text }) => [title, facts.length, text]),
    [
      ['Response headers', 2, ''],
      ['Response body (base64) (only its beginning was kept)', 0, 'dGVh'],
    ],
  )
})

test('filters know text in any case, and how loud a line is', () => {
  assert.ok(fitsLine(line, ' NO tea ', 'debug') && fitsLine(line, 'tea.js:3', 'error'))
  assert.ok(!fitsLine({ ...line, level: 'warn' }, '', 'error'))
  assert.ok(LEVELS.every((level) => fitsLine({ ...line, level: 'error' }, '', level)))
  assert.ok(fitsRequest(requestOf(sent), 'post') && !fitsRequest(requestOf(sent), 'shop'))
})

test('neither side believes what has another form', () => {
  assert.deepEqual(readAsked({ ask: 'details', key: 4, command: 'x' }), { ask: 'details', key: 4 })
  for (const wrong of [null, 'ready', { ask: 'run' }, { ask: 'details', key: -1 }, { ask: 'clear', list: 'all' }])
    assert.equal(readAsked(wrong), undefined)
  const change = { anew: false, put: [line], floor: 0, missing: '' }
  assert.ok(readTold({ tell: 'console', change }))
  assert.ok(readTold({ tell: 'network', change: { ...change, put: [requestOf(sent)] } }))
  assert.ok(readTold({ tell: 'details', details: detailsOf(sent) }))
  for (const wrong of [
    { tell: 'network', change },
    { tell: 'console', change: { ...change, put: [{ ...line, text: {} }] } },
    { tell: 'console', change: { ...change, put: Array.from({ length: 2001 }, () => line) } },
    { tell: 'details', details: { key: 1, facts: [{ name: 'a' }], sections: [] } },
    { tell: 'tab', tab: { title: '', address: '', of: '', state: { tone: 'loud', text: '', remedy: '' } } },
  ])
    assert.equal(readTold(wrong), undefined)
})

test('nothing runs in the page but its own script', () => {
  const html = page({ source: 'https://code.test', script: 'https://code.test/panel.js', style: 's.css', nonce: 'abc' })
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1]
  assert.equal(
    policy,
    "default-src 'none'; script-src 'nonce-abc'; style-src https://code.test; base-uri 'none'; form-action 'none'",
  )
  assert.equal(html.match(/<script/g)?.length, 1)
})

test('a failure says what to do, with a button where there is one', () => {
  assert.equal(failed(new Failure('node', 'gone', undefined, 'tab_gone')).remedy?.command, 'baton.showTab')
  const forbidden = failed(new Failure('node', 'expected the scope debug', undefined, 'forbidden'))
  assert.match(forbidden.text, /What to do: set one with the scope debug/)
  assert.equal(forbidden.remedy?.command, 'baton.setKey')
  assert.equal(failed(new Failure('none', 'no node runs')).remedy?.command, 'baton.startNode')
})

test('a click on the row of a tab looks into it', () => {
  const tabs = [{ token: 't1', url: 'http://a.test/', title: 'Tea', cocoon_id: 's1', browser_id: 's1' }]
  const row = rows({ ...NOTHING, link: 'online', tabs }, 0).find(({ id }) => id === 'tabs')?.children?.[0]
  assert.deepEqual([row?.command, row?.subject], ['baton.showTab', 't1'])
})

test('only the one tab that can be meant stands in the place of another', () => {
  const tab = (token: string, url = 'http://a.test/') =>
    ({ token, url, title: '', cocoon_id: 's1', browser_id: 's1' }) as Parameters<typeof heir>[1]
  assert.equal(heir([tab('new'), tab('old', 'http://b.test/')], tab('old'))?.token, 'old')
  assert.equal(heir([tab('new')], tab('old'))?.token, 'new')
  assert.equal(heir([tab('new'), tab('newer')], tab('old')), undefined)
  assert.equal(heir([{ ...tab('new'), cocoon_id: 's2' }], tab('old')), undefined)
})
