// Settings with nonsense in them say what would be sense, and an address never leads a key astray.

import assert from 'node:assert/strict'
import test from 'node:test'
import { readAddress, readSettings } from '../../src/settings.ts'
import { checkAgent, checkName } from '../../src/words/names.ts'

const settings = (set: Record<string, unknown>) => readSettings((name) => set[name])

test('what nobody set has the defaults of the specification', () => {
  const { syncEnabled, syncAutoRegisterCloud, syncCloudUrl, conflictPolicy, nodeUrl } = settings({})
  assert.deepEqual(
    { syncEnabled, syncAutoRegisterCloud, syncCloudUrl, conflictPolicy, nodeUrl },
    {
      syncEnabled: false,
      syncAutoRegisterCloud: true,
      syncCloudUrl: undefined,
      conflictPolicy: 'latest-wins',
      nodeUrl: undefined,
    },
  )
})

test('nonsense is named with what was expected', () => {
  assert.throws(() => settings({ nodeUrl: 'somewhere' }), /expected baton.nodeUrl to be an address such as/)
  assert.throws(() => settings({ nodeUrl: 7 }), /expected baton.nodeUrl to be a text, found number/)
  assert.throws(() => settings({ syncEnabled: 'yes' }), /expected baton.syncEnabled to be true or false, found string/)
  assert.throws(
    () => settings({ conflictPolicy: 'best' }),
    /expected baton.conflictPolicy to be one of latest-wins, manual, merge/,
  )
})

test('a key goes in clear text to this machine only', () => {
  assert.equal(readAddress('http://127.0.0.1:7420', 'it').port, '7420')
  assert.equal(readAddress('http://[::1]:7420', 'it').hostname, '[::1]')
  assert.throws(() => readAddress('http://baton.example.org', 'it'), /begin with https/)
  assert.throws(() => readAddress('http://127.0.0.1.example.org', 'it'), /begin with https/)
  assert.throws(() => readAddress('https://me:secret@baton.example.org', 'it'), /without a name or a password/)
  assert.throws(() => readAddress('file:///etc/passwd', 'it'), /expected it to be an address/)
})

test('names are judged before the node is asked', () => {
  assert.equal(checkName('shop-2'), undefined)
  assert.equal(checkName(''), undefined)
  assert.match(checkName('two words') ?? '', /expected 1 to 64/)
  assert.equal(checkAgent('kimi'), undefined)
  assert.match(checkAgent('..') ?? '', /expected 1 to 64/)
})
