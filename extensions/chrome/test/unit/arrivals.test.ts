// What wakes the worker is told to it late, and is taken first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Arrivals } from '../../src/arrivals.ts'

test('what happened before the worker was there is taken before what came first', async () => {
  const born = Date.now()
  const arrivals = new Arrivals(born)
  const taken: string[] = []
  arrivals.put(() => taken.push('end'), born + 5)
  arrivals.put(() => taken.push('beginning'), born - 5)
  arrivals.put(() => taken.push('middle'), born - 1)
  assert.equal(taken.length, 0)
  await arrivals.ready()
  assert.deepEqual(taken, ['beginning', 'middle', 'end'])
  arrivals.put(() => taken.push('later'), born - 9)
  assert.deepEqual(taken.slice(3), ['later'], 'then everything is taken as it comes')
})

test('nothing is waited for longer than a second', async () => {
  const arrivals = new Arrivals(Date.now() - 1_000)
  const taken: string[] = []
  arrivals.put(() => taken.push('now'))
  await arrivals.ready()
  assert.deepEqual(taken, ['now'])
})
