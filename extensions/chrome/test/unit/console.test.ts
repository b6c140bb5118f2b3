// Lines of the console read as the node's own recorder writes them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Clock } from '../../src/record/clock.ts'
import { message } from '../../src/record/format.ts'
import { bytesIn, cut } from '../../src/secrets/cut.ts'

type Args = Parameters<typeof message>[0]
const text = (value: string) => ({ type: 'string', value })

test('arguments are printed as a console does', () => {
  const cases: [unknown[], string][] = [
    [[], ''],
    [[text('a'), { type: 'number', value: 1 }, { type: 'undefined' }], 'a 1 undefined'],
    [[text('%s is %d%% %cred'), text('it'), { type: 'number', value: 5 }, text('color: red')], 'it is 5% red'],
    [[text('%s %s'), text('one')], 'one %s'],
    [[text('100%')], '100%'],
    [[{ type: 'number', unserializableValue: '-0' }], '-0'],
    [
      [{ type: 'object', description: 'Object', preview: { overflow: true, properties: [{ name: 'a', type: 'string', value: 'x' }, { name: 'b', type: 'number', value: '2' }] } }],
      '{a: "x", b: 2, …}',
    ],
    [[{ type: 'object', subtype: 'array', preview: { subtype: 'array', properties: [{ name: '0', type: 'number', value: '1' }] } }], '[1]'],
    [[{ type: 'object', description: 'Error: no\n    at f', preview: { subtype: 'error' } }], 'Error: no\n    at f'],
  ]
  for (const [args, expected] of cases) assert.equal(message(args as Args), expected)
})

test('an instant of either clock is the same instant', () => {
  const clock = new Clock(() => 1_700_000_000_000)
  assert.equal(clock.at(1_000.5), 1_700_000_000_000, 'it is now')
  clock.set(1_000.5, 1_700_000_000.25)
  assert.equal(clock.at(1_000.5), 1_700_000_000_250)
  assert.equal(clock.at(1_001), 1_700_000_000_750)
})

test('a long text is cut between letters, by bytes', () => {
  assert.deepEqual(cut('größer', 4), { text: 'grö', isCut: true })
  assert.deepEqual(cut('größer', 8), { text: 'größer', isCut: false })
  assert.deepEqual(cut('a😀', 4), { text: 'a', isCut: true })
  assert.equal(bytesIn('aß€😀'), 1 + 2 + 3 + 4)
})
