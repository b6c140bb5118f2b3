// What status bar, tree and comparison say.

import assert from 'node:assert/strict'
import test from 'node:test'
import { age, size } from '../../../shared/amounts.ts'
import { readBoard } from '../../src/board.ts'
import { pages } from '../../src/conflict/pages.ts'
import { type Known, NOTHING, withBoard, withMissing, without, withSync } from '../../src/known.ts'
import { Failure } from '../../src/node/failure.ts'
import { rows } from '../../src/view/rows.ts'
import { boardShown } from '../../src/words/board.ts'
import { syncShown } from '../../src/words/sync.ts'

const NOW = Date.parse('2026-11-24T12:00:00Z')
const online: Known = { ...NOTHING, link: 'online' }
const peer = {
  nodeId: 'p1',
  name: 'server',
  state: 'confirmed',
  status: 'online',
  hasKey: true,
  url: 'https://s.test/',
  fingerprint: 'a1b2',
} as never
const standing = (difference: string, id: string) =>
  ({ sessionId: id, name: id, difference, size: 1, here: true, there: true }) as never
const revision = (rev: string, nodeId: string) => ({
  rev,
  nodeId,
  lastModified: '2026-11-24T11:55:00Z',
  checksum: 'c',
  size: 2048,
})
const conflict = {
  sessionId: 's1',
  name: 'shop',
  current: revision('3-aaaaaaaaaa', 'n1'),
  siblings: [revision('3-bbbbbbbbbb', 'p1')],
}

const asked: Known = { ...online, asksPeers: true }
const told = (...peers: object[]): Known => withSync(asked, { conflicts: [], peers: peers as never })

test('the status bar says the one thing that counts', () => {
  const compared = (...items: never[]) => told({ peer, items })
  assert.equal(syncShown(NOTHING).text, 'connecting')
  assert.equal(syncShown(online).text, 'asking')
  assert.equal(syncShown(withSync(online, { conflicts: [], peers: [] })).text, 'ready')
  assert.equal(syncShown(told()).text, 'no peers')
  assert.equal(syncShown(told({ peer })).text, 'asking')
  assert.equal(syncShown(compared()).text, 'synced')
  assert.equal(syncShown(compared(standing('behind', 'a'), standing('behind', 'b'), standing('diverged', 'c'))).text, '3 to pull')
  assert.equal(syncShown(compared(standing('behind', 'a'), standing('ahead', 'b'))).text, '1 to pull, 1 to push')
  const conflicts = [conflict] as never
  assert.equal(syncShown(withSync(asked, { conflicts, peers: [] })).text, 'conflict')
  const silent = told({ peer: { ...(peer as object), status: 'offline' }, problem: { detail: 'no answer' } })
  assert.equal(syncShown(silent).text, 'offline')
  assert.match(syncShown(silent).tooltip, /server: no answer/)
  const refused = told({ peer, problem: { detail: 'an unknown key' } })
  assert.deepEqual([syncShown(refused).text, syncShown(refused).command], ['refused', 'baton.registerPeer'])
})

test('without a node it says what a click does about it', () => {
  const click = (kind: Failure['kind']) => syncShown(without(new Failure(kind, 'why'))).command
  assert.equal(click('none'), 'baton.startNode')
  assert.equal(click('refused'), 'baton.setKey')
  assert.equal(click('settings'), 'baton.openSettings')
  assert.equal(click('version'), 'baton.refresh')
})

test('what the key does not show is never called synced, until the node tells it', () => {
  const hidden = withMissing(told(), 'sync', new Failure('node', 'not allowed'))
  assert.equal(syncShown(hidden).text, 'sync unknown')
  assert.equal(rows(hidden, NOW).at(-1)?.description, 'sync: not allowed')
  assert.equal(syncShown(withSync(hidden, { conflicts: [], peers: [] })).text, 'no peers')
  const nobody = new Failure('node', 'not on the board', undefined, 'not_on_board')
  assert.deepEqual(withMissing(online, 'board', nobody), online)
})

test('the board counts those who are there, whatever else stands in it', () => {
  const board = {
    agents: { kimi: { status: 'active', current_task: 'tests' }, codex: { status: 'active' }, old: { status: 'active' }, odd: 7 },
    gone: ['old'],
    tasks: [{ id: 't1', description: 'write', status: 'pending' }, 'nonsense'],
  }
  const known = withBoard(online, { board: board as never, sessions: [] })
  assert.equal(boardShown(known)?.text, '2 agents active')
  assert.equal(known.board?.tasks.length, 1)
  assert.equal(boardShown(withBoard(online, { board: null, sessions: [] })), undefined)
  assert.equal(readBoard('text'), undefined)
})

test('the tree has sessions by state, conflicts first', () => {
  const session = (name: string, state: string) => ({ id: name, name, state, updated_at: '2026-11-24T11:00:00Z' }) as never
  const sessions = [session('a', 'active'), session('b', 'recoverable'), session('c', 'closed')]
  const found = rows(withSync({ ...online, sessions }, { conflicts: [conflict] as never, peers: [{ peer }] }), NOW)
  assert.deepEqual(
    found.map((row) => row.label),
    ['Conflicts', 'Active', 'Recoverable', 'Closed', 'Peers'],
  )
  assert.equal(found[1]?.children?.[0]?.description, '1 h ago')
  assert.equal(found[4]?.children?.[0]?.description, 'online, moved never')
  assert.deepEqual(rows(NOTHING, NOW), [])
})

test('the sides of a conflict are counts and names', () => {
  const sites = [{ site: 'shop.test', kind: 'cookie', added: 0, removed: 1, changed: 1, names: ['csrf', 'sid'] }]
  const details = { ...conflict, differences: [{ rev: '3-bbbbbbbbbb', sites }] } as never
  const { current, sibling } = pages(details, '3-bbbbbbbbbb', (id) => (id === 'n1' ? 'this node' : 'server'), NOW)
  assert.match(current, /shop: 3-aaaaaaaa counts now\nwritten by this node, 5 min ago, 2.0 KiB/)
  assert.match(
    current,
    /shop.test: cookie \(csrf, sid\)\n {2}only in this revision: 1\n {2}in both, not the same: 1 \(one value, hidden\)/,
  )
  assert.match(sibling, /only in this revision: 0\n {2}in both, not the same: 1 \(another value, hidden\)/)
})

test('amounts are short', () => {
  assert.deepEqual(
    [age('2026-11-24T11:59:50Z', NOW), age('2026-11-20T12:00:00Z', NOW), age(null, NOW)],
    ['just now', '4 d ago', 'never'],
  )
  assert.deepEqual([size(12), size(34_570)], ['12 B', '33.8 KiB'])
})
