// A tab is watched by the node's long poll: it goes on where it ended, and says what hinders it.
//
// The node here answers what a test says: what a real one does is in the story in a real VS Code.

import assert from 'node:assert/strict'
import test from 'node:test'
import createClient from 'openapi-fetch'
import type { paths } from '../../../shared/api.ts'
import { type Known, NOTHING } from '../../src/known.ts'
import type { Node } from '../../src/node/node.ts'
import type { Source } from '../../src/panel/back.ts'
import type { Told } from '../../src/panel/messages.ts'
import { Watch } from '../../src/panel/watch.ts'

const TAB = { token: 't1', url: 'http://a.test/', title: 'Tea', cocoon_id: 's1', browser_id: 's1' }
const ONLINE: Known = { ...NOTHING, link: 'online' }
const json = (body: unknown, status = 200) => Response.json(body, { status })
const problem = (code: string, status: number) => json({ code, title: code, detail: code, status }, status)
const line = (seq: number) => ({ seq, timestamp: 1, level: 'log', message: `line ${seq}` })

/** A node and a hub that do as the test says; what was asked, and what was told. */
class Stage {
  readonly asked: { path: string; after: number | null; wait: string | null; signal: AbortSignal }[] = []
  readonly told: Told[] = []
  reconnected = 0
  /** Answers a question; nothing waits until it is ended. */
  answer: (path: string, after: number | null) => Response | undefined = () => undefined
  private readonly listeners = new Set<(known: Known) => void>()
  private waiting: (() => void)[] = []

  readonly source: Source = {
    known: ONLINE,
    onChange: (listener) => {
      this.listeners.add(listener)
      return { dispose: () => this.listeners.delete(listener) }
    },
    node: async () => this.node,
    reconnect: async () => void this.reconnected++,
    lookSoon: () => undefined,
  }
  readonly watch = new Watch(this.source, TAB, (told) => {
    this.told.push(told)
    this.changed()
  })
  private readonly node: Node = this.makeNode()

  news(known: Known): void {
    for (const listener of [...this.listeners]) listener(known)
  }

  get listening(): number {
    return this.listeners.size
  }

  get state(): string | undefined {
    const tab = this.told.findLast((told) => told.tell === 'tab')
    return tab?.tell === 'tab' ? tab.tab.state.text : undefined
  }

  get lines(): string[] {
    return this.told.flatMap((told) => (told.tell === 'console' ? told.change.put.map(({ text }) => text) : []))
  }

  of(path: string): (number | null)[] {
    return this.asked.filter((one) => one.path.endsWith(path)).map(({ after }) => after)
  }

  /** Waits until it is so; the runner's own limit ends a wait in vain. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((done) => this.waiting.push(done))
  }

  private changed(): void {
    for (const done of this.waiting.splice(0)) done()
  }

  private makeNode(): Node {
    const send = async (request: Request): Promise<Response> => {
      const { pathname: path, searchParams } = new URL(request.url)
      const after = request.method === 'POST' ? (((await request.json()) as { after?: number }).after ?? null) : null
      this.asked.push({ path, after, wait: searchParams.get('wait'), signal: request.signal })
      this.changed()
      request.signal.throwIfAborted()
      const answer = this.answer(path, after)
      if (answer !== undefined) return answer
      return new Promise((_, ended) => request.signal.addEventListener('abort', () => ended(request.signal.reason)))
    }
    const api = createClient<paths>({ baseUrl: 'http://node.test', fetch: send })
    return { api, patient: api, streams: api } as Node
  }
}

test('each list goes on where it ended, also after nobody looked for a while', async () => {
  const stage = new Stage()
  stage.answer = (path, after) => {
    if (path.endsWith('/network')) return after === null ? json({ requests: [], cursor: 40 }) : undefined
    if (after === null) return json({ entries: [line(1)], cursor: 1 })
    return after === 1 ? json({ entries: [line(2)], cursor: 2 }) : undefined
  }
  stage.watch.start()
  await stage.until(() => stage.of('/console').length === 3 && stage.of('/network').length === 2)
  assert.deepEqual(stage.of('/console'), [null, 1, 2])
  assert.deepEqual(stage.of('/network'), [null, 40])
  assert.deepEqual(stage.lines, ['line 1', 'line 2'])
  assert.equal(stage.state, 'Live')
  stage.watch.stop()
  const asked = stage.asked.length
  assert.ok(stage.asked.filter(({ after }) => after === 2 || after === 40).every(({ signal }) => signal.aborted))
  stage.watch.start()
  await stage.until(() => stage.asked.length === asked + 2)
  assert.deepEqual([stage.of('/console').at(-1), stage.of('/network').at(-1)], [2, 40])
  assert.deepEqual(
    stage.asked.filter(({ path }) => path.endsWith('/console')).map(({ wait }) => wait),
    ['0', '20', '20', '0'],
  )
  stage.watch.stop()
})

test('a tab that is gone is told, and the one in its place is followed from the beginning', async () => {
  const stage = new Stage()
  stage.answer = (path) => {
    if (path.includes('/t1/')) return problem('tab_gone', 404)
    if (path.endsWith('/tabs')) return json({ items: [{ ...TAB, token: 't2' }] })
    return path.endsWith('/console') && stage.of('/t2/console').length === 1 ? json({ entries: [line(1)], cursor: 1 }) : undefined
  }
  stage.watch.start()
  await stage.until(() => stage.state?.startsWith('This tab is gone') === true)
  await stage.until(() => stage.lines.length === 1)
  assert.equal(stage.watch.tab.token, 't2')
  assert.deepEqual(stage.of('/t2/console')[0], null)
  assert.equal(stage.state, 'Live')
  stage.watch.stop()
})

test('a node that does not answer is looked for, and asked again once there is news of it', async () => {
  const stage = new Stage()
  let isUp = false
  stage.answer = (path) => {
    if (!isUp) throw new TypeError('fetch failed')
    return path.endsWith('/console') ? json({ entries: [line(1)], cursor: 1 }) : undefined
  }
  stage.watch.start()
  await stage.until(() => stage.listening === 1 && stage.reconnected === 1)
  assert.match(stage.state ?? '', /^Nothing comes: the node does not answer/)
  stage.news({ ...NOTHING, link: 'none' })
  assert.equal(stage.listening, 1)
  isUp = true
  stage.news(ONLINE)
  assert.equal(stage.listening, 0)
  await stage.until(() => stage.state === 'Live')
  stage.watch.stop()
})

test('a key that may not look is told, and asked with again only after something has changed', async () => {
  const stage = new Stage()
  stage.answer = () => problem('forbidden', 403)
  stage.watch.start()
  await stage.until(() => stage.listening === 1)
  assert.match(stage.state ?? '', /^The key may not look into tabs/)
  assert.equal(stage.reconnected, 0)
  const asked = stage.asked.length
  stage.news(ONLINE)
  await stage.until(() => stage.listening === 1 && stage.asked.length > asked)
  stage.watch.stop()
  assert.equal(stage.listening, 0)
})

test('a request that the node no longer keeps is no riddle', async () => {
  const stage = new Stage()
  stage.answer = () => json({ requests: [], cursor: 3 })
  await stage.watch.details(7)
  const told = stage.told.at(-1)
  assert.ok(told?.tell === 'details')
  assert.deepEqual([told.details.key, told.details.sections[0]?.text], [7, 'The node no longer keeps this request'])
})
