// Requests that the debugger told of are known once each.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Told } from '../../src/record/told.ts'

test('each request that was told of is known once, by method and address', () => {
  const told = new Told()
  told.put('GET', 'http://shop/item')
  told.put('GET', 'http://shop/item#part')
  assert.equal(told.take('POST', 'http://shop/item'), false)
  assert.equal(told.take('GET', 'http://shop/item#other'), true)
  assert.equal(told.take('GET', 'http://shop/item'), true)
  assert.equal(told.take('GET', 'http://shop/item'), false)
})

test('what is not sent is not counted, and what is forgotten is not known', () => {
  const told = new Told()
  told.put('GET', 'data:,')
  assert.equal(told.take('GET', 'data:,'), false)
  told.put('GET', 'ws://shop/echo')
  told.clear()
  assert.equal(told.take('GET', 'ws://shop/echo'), false)
})
