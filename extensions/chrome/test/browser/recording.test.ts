// What a page does is told: of the first page what can be seen, of the next ones everything.

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { FRAME, busy } from '../kit/busy.ts'
import { House } from '../kit/house.ts'
import type { Site } from '../kit/site.ts'
import { done, lines, requests } from '../kit/story.ts'
import { until } from '../kit/wait.ts'

let house: House
let site: Site
let names: Record<string, string>

before(async () => {
  house = await House.open()
  // The browser keeps hosts below one site in one process: the frame is to be another site's.
  const frame = await house.site('frame', FRAME, { hasToken: false })
  const there = `http://127.0.0.1:${frame.port}`
  const nobody = await free()
  const pages: Parameters<House['site']>[1] = {}
  site = await house.site('shop', pages)
  Object.assign(pages, busy(there, site.echo, nobody), {
    '/missing': (_request: unknown, response: import('node:http').ServerResponse) =>
      response.writeHead(404, { 'content-type': 'text/javascript' }).end('no'),
  })
  names = { ECHO: site.echo, A: site.origin, FRAME: there, NOBODY: nobody }
  await house.paired()
})
after(() => house.close())

async function free(): Promise<string> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return `http://127.0.0.1:${port}`
}

const REQUESTS = [
  'document GET A/ → 200 "<!doctype html><titl".',
  'document GET FRAME/ frame FRAME/ → 200 "<!doctype html><scri".',
  'fetch GET A/empty → 204.',
  'fetch GET A/from-worker worker A/worker.js → 200 "for the worker".',
  'fetch GET A/large → 200 "xxxxxxxxxxxxxxxxxxxx" cut.',
  'fetch GET A/missing → 404 "no".',
  'fetch GET A/moved',
  'fetch GET A/ok after 302 → 200 "all is well".',
  'fetch GET A/ok → 200 "all is well".',
  'fetch GET A/silent ✗ net::ERR_ABORTED.',
  'fetch GET FRAME/from-frame frame FRAME/ → 200 "for the frame".',
  'fetch GET NOBODY/ ✗ net::ERR_CONNECTION_REFUSED.',
  'fetch HEAD A/ok → 200.',
  'fetch POST A/form "a=1&b=2" → 200 "thanks".',
  'script GET A/external.js → 200 "console.log(\'externa".',
  'script GET A/worker.js → 200 "console.log(\'worker\'".',
  'websocket GET ECHO → 101 ↑hello ↓hello.',
]
const LINES = [
  'log inline script',
  'log external',
  'error Failed to load resource: the server responded with a status of 404 (Not Found)',
  'error Failed to load resource: net::ERR_CONNECTION_REFUSED',
  'log worker worker A/worker.js',
  'warn frame frame FRAME/',
  'debug d',
  'info {a: 1}',
  'warn [1, "x"]',
  'error Error: e',
  'error Uncaught RangeError: thrown',
  'error Uncaught (in promise) TypeError: rejected',
  'log done',
]

test('of the first page every line is told, and every request by one source or the other', async () => {
  const page = await house.browser.open(`${site.origin}/`)
  const tab = await house.relay.tab(site.origin)
  await done(tab, names)
  assert.equal(tab.firstLoad, true)
  assert.deepEqual(tab.holes, [])
  assert.deepEqual(lines(tab.events, names), LINES)
  const seen = [...requests(tab.events, 'webRequest', names), ...requests(tab.events, 'debugger', names)]
  for (const wanted of ['GET A/ ', 'GET A/external.js', 'GET A/ok', 'GET NOBODY', 'GET A/from-worker', 'GET FRAME/from-frame', 'GET ECHO']) {
    assert.ok(seen.some((line) => line.includes(wanted)), `${wanted} in ${seen.join('\n')}`)
  }
  await until('its title is known', () => tab.title === 'page')

  await test('of the next page in the tab everything, with bodies', async () => {
    const begin = tab.events.length
    await page.send('Page.reload')
    const next = await done(tab, names, begin)
    assert.deepEqual(requests(next, 'debugger', names), REQUESTS)
    assert.deepEqual(lines(next, names), LINES)
    // A page that follows at once is told by both sources for a moment, and the node puts the two together.
    // Kinds aside: `webRequest` calls a fetch `xhr`.
    const sent = (line: string) => line.split(' ').slice(1, 3).join(' ')
    const known = REQUESTS.map(sent)
    for (const line of requests(next, 'webRequest', names)) assert.ok(known.includes(sent(line)), `${line} is told by the debugger too`)
    assert.deepEqual(tab.holes, [])
    const instants = next.map((event) => (event.type === 'browser_debug_console_event' ? event.entry.timestamp : event.data.timestamp))
    for (const at of instants) assert.ok(Math.abs(Date.now() - at) < 60_000, `${at} is an instant of today`)
    assert.equal([...house.relay.tabs.values()].length, 1, 'the tab keeps its token')
  })

  await test('a line tells where it was written', async () => {
    const entries = tab.events.flatMap((event) => (event.type === 'browser_debug_console_event' ? [event.entry] : []))
    const external = entries.findLast((entry) => entry.message === 'external')
    assert.deepEqual([external?.source, external?.line, external?.column, external?.args], [`${site.origin}/external.js`, 1, 9, ['external']])
    const error = entries.findLast((entry) => entry.level === 'error' && entry.message.startsWith('Error: e'))
    assert.match(error?.stack_trace ?? '', /^at \(anonymous\) \(http:\/\/shop\.localhost:\d+\/:\d+:\d+\)/)
  })

  await test('a tab that is closed is told as closed', async () => {
    await page.close()
    await until('it is closed', () => tab.isClosed)
  })
})

test('a worker that sleeps is woken by the first page, and misses no line', async () => {
  const { connections } = house.relay
  await house.browser.stopWorker()
  const page = await house.browser.open(`${site.origin}/`)
  const tab = await house.relay.tab(site.origin)
  await done(tab, names)
  assert.ok(house.relay.connections > connections)
  assert.deepEqual(lines(tab.events, names), LINES)
  const base = requests(tab.events, 'webRequest', names)
  assert.ok(base.some((line) => line.startsWith('document GET A/')), base.join('\n'))
  await page.close()
})
