// A tab is looked into by the node's long poll: it goes on where it ended, and nothing is asked once nobody looks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signal } from '@preact/signals'
import type { Question } from '../../../shared/tab/follow.ts'
import { Look, type LookNode, type Tab } from '../../src/look/look.ts'
import { Failure, failureOf } from '../../src/node/failure.ts'

const tab = (token: string, url = 'http://a.test/'): Tab => ({ token, url, title: 'Tea', cocoon_id: 's1', browser_id: 's1' })
const gone = () => new Failure('node', 'expected a tab, found none', undefined, 'tab_gone')

/** A node that has these tabs; what is asked of it waits until it is answered or ended. */
class Stage implements LookNode {
  tabsNow = [tab('t1')]
  asked: { token: string; after: number | undefined; signal: AbortSignal }[] = []
  readonly changed = signal(0)
  /** Answers a question for lines; none lets it wait. */
  lines: (token: string, after: number | undefined) => number[] | undefined = () => undefined
  readonly heard = failureOf
  request = async () => undefined
  tabs = async () => [...this.tabsNow, { ...tab('other'), cocoon_id: 's2' }]
  network = (question: Question) => this.wait(question)

  console = async (question: Question) => {
    const { token } = question.params.path
    const { after } = question.body
    this.asked.push({ token, after, signal: question.signal })
    if (!this.tabsNow.some((one) => one.token === token)) throw gone()
    const found = this.lines(token, after)
    if (found === undefined) return this.wait(question)
    const entries = found.map((seq) => ({ seq, timestamp: 1, level: 'log' as const, message: `line ${seq}` }))
    return { entries, cursor: found.at(-1) ?? after ?? 0 }
  }

  private wait({ signal }: Question): Promise<never> {
    return new Promise((_, ended) => signal.addEventListener('abort', () => ended(signal.reason)))
  }
}

/** Waits until it is so; the runner's own limit ends a wait in vain. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((done) => setTimeout(done, 5))
}

const texts = (look: Look) => look.lines.rows.value.items.map(({ text }) => text)

test('who looks again goes on where it ended, and asks nothing meanwhile', async () => {
  const stage = new Stage()
  stage.lines = (_, after) => (after === undefined ? [1, 2] : undefined)
  const look = new Look('s1', stage)
  look.start()
  look.start()
  await until(() => stage.asked.some(({ after }) => after === 2))
  assert.deepEqual(
    look.tabs.value?.map(({ token }) => token),
    ['t1'],
    'tabs of other sessions are not shown',
  )
  assert.deepEqual(look.standing.value, { is: 'live' })
  look.stop()
  assert.ok(stage.asked.at(-1)?.signal.aborted)
  const before = stage.asked.length
  stage.lines = (_, after) => (after === 2 ? [3] : undefined)
  assert.equal(stage.asked.length, before)
  look.start()
  await until(() => texts(look).length === 3)
  assert.deepEqual(texts(look), ['line 1', 'line 2', 'line 3'])
  assert.deepEqual(stage.asked.filter(({ after }) => after === undefined).length, 1)
  look.stop()
})

test('a tab that is gone keeps what it told, until another stands in its place', async () => {
  const stage = new Stage()
  stage.lines = (token, after) => (after === undefined ? (token === 't1' ? [1] : [7]) : undefined)
  const look = new Look('s1', stage)
  look.start()
  await until(() => texts(look).length === 1)
  look.stop()
  stage.tabsNow = []
  look.start()
  await until(() => look.standing.value.is === 'gone')
  assert.deepEqual(texts(look), ['line 1'])
  stage.tabsNow = [tab('t2')]
  stage.changed.value += 1
  await until(() => texts(look).includes('line 7'))
  assert.deepEqual([look.tab.value?.token, texts(look)], ['t2', ['line 7']])
  look.stop()
})

test('a tab that opens later is shown as soon as it is there, and another one when it is chosen', async () => {
  const stage = new Stage()
  stage.tabsNow = []
  stage.lines = (token, after) => (after === undefined ? (token === 't1' ? [1] : [7]) : undefined)
  const look = new Look('s1', stage)
  look.start()
  await until(() => look.standing.value.is === 'none')
  stage.tabsNow = [tab('t1'), tab('t2', 'http://b.test/')]
  stage.changed.value += 1
  await until(() => texts(look).includes('line 1'))
  look.choose(tab('t2', 'http://b.test/'))
  assert.deepEqual(texts(look), [])
  await until(() => texts(look).includes('line 7'))
  look.stop()
})
