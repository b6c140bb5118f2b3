import assert from 'node:assert/strict'
import { test } from 'node:test'
import { age, until } from '../../../shared/amounts.ts'
import type { Schemas } from '../../src/node/client.ts'
import { host } from '../../src/words/amounts.ts'
import { minutesLeft, over } from '../../src/words/asked.ts'
import { bySite, changesWith, nameOf } from '../../src/words/diff.ts'
import { checkAgent, drivesNow, handed, passing, suggested, whyAsked } from '../../src/words/drivers.ts'
import { checkFile } from '../../src/words/files.ts'
import { pictured } from '../../src/words/pictures.ts'
import { checkName, found, grouped, holder, lasts } from '../../src/words/sessions.ts'
import { inSight } from '../../src/words/sight.ts'
import { whose, wish } from '../../src/words/wishes.ts'

const NOW = Date.parse('2026-01-02T03:04:05Z')

test('ages and ends are said in one unit', () => {
  assert.equal(age('2026-01-02T03:04:01Z', NOW), 'just now')
  assert.equal(age('2026-01-02T01:00:00Z', NOW), '2 h ago')
  assert.equal(age(undefined, NOW), 'never')
  assert.equal(until('2026-01-05T03:04:05Z', NOW), 'in 3 d')
  assert.equal(until('2026-01-02T03:04:35Z', NOW), 'in less than a minute')
  assert.equal(until('2026-01-01T03:04:35Z', NOW), 'now')
  assert.equal(host('https://shop.test:8443/a?b'), 'shop.test:8443')
  assert.equal(host('no address'), 'no address')
})

test('sessions stand by state in one order, and are found by what they are called', () => {
  const of = (name: string, state: Schemas['Lifecycle']) => ({ name, state, description: `The ${name}` })
  const all = [of('a', 'closed'), of('b', 'active'), of('c', 'closed'), of('d', 'failed')]
  const groups = grouped(all).map(({ state, items }) => [state, items.map((one) => one.name).join('')])
  assert.deepEqual(groups, [
    ['active', 'b'],
    ['failed', 'd'],
    ['closed', 'ac'],
  ])
  assert.deepEqual(
    found(all, ' THE c ').map((one) => one.name),
    ['c'],
  )
  assert.equal(found(all, '').length, 4)
  assert.equal(checkName('shop-2'), undefined)
  assert.match(checkName('a b') ?? '', /expected 1 to 64/)
})

test('who has a session is said, and nothing where nobody else has it', () => {
  const view = (more: object) => ({ name: 'shop', ...more }) as Schemas['SessionView']
  const sandbox = '0197c0de-0000-7000-8000-000000000001'
  const held = (by: object) => view({ shared: { held_by: by } })
  assert.equal(holder(view({})), undefined)
  assert.equal(holder(view({ agent: { agent: 'kimi' } })), 'driven by kimi')
  assert.equal(holder(view({ agent: { agent: 'kimi' }, sandbox })), 'driven by kimi', 'who drives comes first')
  assert.equal(holder(view({ sandbox })), 'in the sandbox 0197c0de')
  assert.equal(holder(held({ here: true, name: 'desk' })), undefined)
  assert.equal(holder(held({ here: false, name: 'desk' })), 'held by desk')
  assert.equal(holder(held({ here: false })), 'held by another node')
})

test('of a live picture is said that it comes, and what was none', () => {
  const pace = { sent: 1200, dropped: 3 } as Schemas['LivePace']
  assert.match(pictured('coming', undefined, 0), /^The picture is coming\. .* none\.$/)
  assert.match(pictured('coming', undefined, 2), /none\. 2 pictures could not be read\.$/)
  assert.match(pictured('gone', pace, 0), /comes back with the next one\.$/)
  assert.equal(pictured('shown', undefined, 0), '')
  assert.equal(pictured('shown', pace, 0), '1,200 pictures, 3 left out')
  assert.equal(pictured('shown', pace, 1), '1,200 pictures, 3 left out; 1 picture could not be read')
  assert.equal(pictured('shown', undefined, 1), '1 picture could not be read')
})

test('a login says when it ends, and warns a day ahead', () => {
  const login = (next: string | undefined, more: Partial<Schemas['Login']> = {}): Schemas['Login'] => ({
    domain: 'shop.test',
    likelihood: 'likely',
    forecast: { cookies: 1, expired: 0, within_hour: 0, within_day: 0, within_week: 0, ...(next === undefined ? {} : { next }) },
    ...more,
  })
  assert.deepEqual(lasts(login('2026-01-09T03:04:05Z'), NOW), { words: 'first cookie ends in 7 d', tone: 'good' })
  assert.equal(lasts(login('2026-01-02T05:04:05Z'), NOW).tone, 'soon')
  assert.equal(lasts(login('2026-01-02T05:04:05Z', { stored: true }), NOW).tone, 'good')
  assert.equal(lasts(login(undefined), NOW).words, 'no end of its own')
  assert.equal(lasts(login(undefined, { likelihood: 'over' }), NOW).tone, 'over')
})

test('of ten thousand rows those are in the page that are in sight', () => {
  assert.deepEqual(inSight(10_000, 100, 0, 800), [0, 14])
  assert.deepEqual(inSight(10_000, 100, 500_000, 800), [4994, 5014])
  assert.deepEqual(inSight(10_000, 100, 999_999, 800), [9993, 10_000])
  assert.deepEqual(inSight(10_000, 100, -50_000, 800), [0, 0])
  assert.deepEqual(inSight(0, 100, 0, 800), [0, 0])
  // At first what is seen alone, also of a list that begins further below, or below the screen.
  assert.deepEqual(inSight(10_000, 100, 0, 800, 0), [0, 8])
  assert.deepEqual(inSight(10_000, 100, -350, 800, 0), [0, 5])
  assert.deepEqual(inSight(10_000, 100, -900, 800, 0), [0, 0])
})

test('a guest is told how long it lasts, and how it ended', () => {
  assert.equal(minutesLeft('2026-01-02T03:14:05Z', NOW), 'in 10 minutes')
  assert.equal(minutesLeft('2026-01-02T03:04:35Z', NOW), 'in a minute')
  assert.equal(minutesLeft('2026-01-02T03:04:05Z', NOW), 'its time has passed')
  assert.equal(over('done').title, 'Thank you')
  assert.match(over('lost').words, /browser is gone/)
})

test('what changed stands by site and kind, by names and counts', () => {
  const cookie = (where: string, change: Schemas['Change'], site: string, fields: string[] = []) =>
    ({ kind: 'cookie', where, site, change, fields }) as const
  const items: Schemas['DiffItem'][] = [
    { kind: 'environment', where: 'viewport', change: 'changed' },
    cookie('shop.test/ sid', 'changed', 'shop.test', ['value', 'expires']),
    cookie('www.shop.test/ basket', 'added', 'shop.test', ['value']),
    { kind: 'local_storage', where: 'https://shop.test/', entry: 'a b', site: 'shop.test', change: 'removed' },
    { kind: 'cache', where: 'https://cdn.test/ v1', site: 'cdn.test', change: 'changed', records: { before: 3, after: 1 } },
    { kind: 'permission', where: 'camera https://cdn.test', site: 'cdn.test', change: 'added' },
  ]
  assert.deepEqual(items.map(nameOf), ['viewport', 'sid (value, expires)', 'basket', 'a b', 'v1 (1 entry, before 3)', 'camera'])
  const changes = bySite(items)
  assert.deepEqual(
    changes.map(({ site, kind, added, changed, removed }) => [site, kind, added.length, changed.length, removed.length]),
    [
      ['cdn.test', 'cache', 0, 1, 0],
      ['cdn.test', 'permission', 1, 0, 0],
      ['shop.test', 'cookie', 1, 1, 0],
      ['shop.test', 'local_storage', 0, 0, 1],
      ['', 'environment', 0, 1, 0],
    ],
  )
  assert.deepEqual(
    changesWith(changes, ' Local S').map(({ site }) => site),
    ['shop.test'],
  )
  assert.deepEqual(
    changesWith(changes, 'basket').map(({ kind }) => kind),
    ['cookie'],
  )
})

test('who asks is an origin, with that of the page around it', () => {
  assert.equal(whose({ origin: 'https://ads.test' }), 'https://ads.test')
  assert.equal(whose({ origin: 'https://ads.test', within: null }), 'https://ads.test')
  assert.equal(
    whose({ origin: 'https://ads.test', within: 'https://bank.test' }),
    'https://ads.test (in a page of https://bank.test)',
  )
})

test('what a site wishes for is said with who wishes, and where', () => {
  const asked = { question: 1, origin: 'https://shop.test', names: ['geolocation'] }
  assert.equal(wish(asked), 'https://shop.test wants to know your location')
  const within = { ...asked, within: 'https://mall.test', names: ['camera', 'microphone'] }
  assert.equal(wish(within), 'https://shop.test (in a page of https://mall.test) wants to use the camera and use the microphone')
})

test('who hands a session over says to whom, and why where it is taken', () => {
  const [nobody, kimi, ada] = [
    { agent: undefined, own: false },
    { agent: 'kimi', own: false },
    { agent: 'ada', own: true },
  ]
  assert.deepEqual(
    [nobody, kimi, ada].map((one) => drivesNow(one).split('.')[0]),
    ['Nobody drives it now', 'kimi drives it now', 'You drive it now, as ada'],
  )
  assert.deepEqual(
    [nobody, kimi, ada].map((one) => whyAsked(one).split('.')[0]),
    ['Not needed', 'Needed, for it is taken from kimi', 'Not needed'],
  )
  const typed = { to: ' codex ', nobody: false, reason: '' }
  assert.deepEqual(passing(typed, nobody), { body: { to: 'codex' } })
  assert.deepEqual(passing(typed, ada), { body: { to: 'codex' } })
  assert.deepEqual(passing({ ...typed, reason: ' ' }, kimi), { wrong: 'expected why it is taken from kimi', field: 'reason' })
  assert.deepEqual(passing({ ...typed, reason: ' it hangs ' }, kimi), { body: { to: 'codex', reason: 'it hangs' } })
  assert.deepEqual(passing({ ...typed, nobody: true }, ada), { body: {} })
  assert.deepEqual(passing({ ...typed, to: 'nobody' }, ada), { body: {} }, 'the same word as on the command line')
  for (const to of ['', 'two words', '.', '..', 'käthe', 'x'.repeat(65)]) {
    const refused = passing({ ...typed, to }, ada)
    assert.ok('wrong' in refused && refused.field === 'to', to)
  }
  for (const name of ['a', 'codex-2', 'kimi_k2.5', '...', 'x'.repeat(64)]) assert.equal(checkAgent(name), undefined, name)
  assert.equal(handed('codex'), 'codex drives it from now on')
  assert.match(handed(undefined), /^nobody drives it/)
})

test('agents that were seen are suggested, and who drives is not', () => {
  const names = ['qwen', undefined, 'kimi', 'codex', 'qwen']
  assert.deepEqual(suggested(names, { agent: 'kimi', own: false }), ['codex', 'qwen'])
  assert.deepEqual(suggested(names, { agent: undefined, own: false }), ['codex', 'kimi', 'qwen'])
})

test('a file that the node does not take is refused by its name and its size', () => {
  assert.equal(checkFile({ name: 'note.txt', size: 128 << 20 }), undefined)
  assert.equal(
    checkFile({ name: 'film.mkv', size: 5 * 2 ** 30 }),
    'expected a file of at most 128.0 MiB, found film.mkv with 5.0 GiB',
  )
})
