// While one tab is looked at, others are opened in every way there is: of each all requests and all lines
// are told, whether the listeners that a new page needs are there in time or not.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from '../kit/browser.ts'
import { House } from '../kit/house.ts'
import { TALKER } from '../kit/pages.ts'
import type { Taken } from '../kit/relay.ts'
import type { Site } from '../kit/site.ts'
import { until } from '../kit/wait.ts'

/** How often each way is gone; more finds what is rare. */
const TIMES = Number(process.env['TIMES'] ?? 2)

const SHOP = `<!doctype html><title>shop</title><link rel=icon href=data:,><link rel=stylesheet href=/a.css>
  <body style="margin: 0"><script>console.log('inline')
    const all = [fetch('/form', { method: 'POST', body: 'a=1' }), fetch('/missing'), fetch('/moved'), fetch('/ok', { method: 'HEAD' })]
    for (let at = 0; at < 20; at += 1) all.push(fetch('/item?' + at))
    const loaded = new Promise((done) => addEventListener('load', done))
    Promise.all([loaded, ...all.map((one) => one.then((it) => it.text()))]).then(() => console.log('done'))
  </script><script src=/a.js></script><img src=/a.svg><iframe src=/frame></iframe>`
const REQUESTS = [
  'GET / 200',
  'GET /a.css 200',
  'GET /a.js 200',
  'GET /a.svg 200',
  'GET /frame 200',
  'GET /from-frame 200',
  'GET /missing 404',
  'GET /moved 302',
  'GET /ok 200',
  'HEAD /ok 200',
  'POST /form 200',
  ...Array.from({ length: 20 }, (_, at) => `GET /item?${at} 200`),
]
const LINES = ['inline', 'external', 'frame', 'done', 'Failed to load resource: the server responded with a status of 404 (Not Found)']

/** How long the site takes for an answer that comes when the debugger has long been there, in milliseconds. */
const LATE_MS = 1_500

let house: House
let shop: Site
let other: Site
let first: Page

before(async () => {
  house = await House.open()
  const text = (type: string, body: string) => (_: unknown, response: import('node:http').ServerResponse) => response.writeHead(200, { 'content-type': type }).end(body)
  shop = await house.site('shop', {
    '/': SHOP,
    '/first': TALKER,
    '/said': 'yes',
    '/a.css': text('text/css', 'p {}'),
    '/a.js': "console.log('external')",
    '/a.svg': text('image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'),
    '/slow': "<!doctype html><title>slow</title><link rel=icon href=data:,><script>fetch('/late').then((it) => it.text()).then(() => console.log('done'))</script>",
    '/late': (_, response) => void setTimeout(() => response.end('late'), LATE_MS),
    '/frame': "<!doctype html><script>console.log('frame'); fetch('/from-frame')</script>",
    '/from-frame': 'for the frame',
    '/form': 'thanks',
    '/item': 'thing',
    '/ok': 'all is well',
    '/moved': (_, response) => response.writeHead(302, { location: '/ok' }).end(),
  })
  other = await house.site('bank', { '/': `${TALKER.replaceAll('hello', 'private-line')}<script>fetch('/never').catch(() => {})</script>`, '/said': 'private', '/never': () => {} }, { hasToken: false })
  await house.paired()
  await observe()
  first = await house.browser.open(`${shop.origin}/first`)
  await house.relay.tab(shop.origin)
  await quiet()
})
after(() => house.close())

/** The worker says whether it listens for more than it always does. */
async function observe(): Promise<void> {
  await house.browser.inWorker(`
    globalThis.isOn = true
    const event = chrome.webRequest.onBeforeRequest
    const { addListener, removeListener } = event
    event.addListener = (...all) => { isOn = true; if (!globalThis.isDeaf) addListener.apply(event, all) }
    event.removeListener = (...all) => { isOn = false; removeListener.apply(event, all) }`)
}

/** Only what is listened for always is listened for. */
async function quiet(): Promise<void> {
  await until('no page needs more', async () => (await house.browser.inWorker('isOn')) !== true)
}

/** What happened in a tab, requests by whichever source. */
function told(tab: Taken): { requests: Set<string>; lines: string[] } {
  const open = new Map<string, string>()
  const requests = new Set<string>()
  const lines: string[] = []
  for (const event of tab.events) {
    if (event.type === 'browser_debug_console_event') {
      lines.push(event.entry.message)
      continue
    }
    const id = `${event.source} ${event.data.request_id}`
    if (event.event === 'request') {
      const before = event.data.redirect_response
      if (before !== undefined) requests.add(`${open.get(id)} ${before.status}`)
      open.set(id, `${event.data.method} ${event.data.url.replace(shop.origin, '').replace(/^\/\?tab.*/, '/')}`)
    } else if (event.event === 'response') requests.add(`${open.get(id)} ${event.data.status}`)
  }
  return { requests, lines }
}

/** Waits until all that a tab did is told. */
async function whole(tab: Taken): Promise<void> {
  const missing = () => {
    const { requests, lines } = told(tab)
    return [...REQUESTS.filter((one) => !requests.has(one)), ...LINES.filter((one) => !lines.includes(one))]
  }
  try {
    await until('all is told', () => missing().length === 0, 5_000)
  } catch {
    assert.deepEqual(missing(), [], 'nothing is missing')
  }
  assert.deepEqual(tab.holes, [])
  for (const line of LINES) assert.equal(told(tab).lines.filter((one) => one === line).length, 1, `${line} is told once`)
}

/** Goes there in one way or another; what it opened is closed, unless it does so itself. */
type Way = (url: string) => Promise<void>

const link = (url: string, more = '') => `(() => { const link = document.createElement('a'); link.href = '${url}'; link.innerText = 'there'; ${more}
  link.style = 'position: fixed; top: 0; left: 0; width: 100px; height: 100px'; document.body.replaceChildren(link); return link })()`

/** A page of nobody's, and what a person does there. */
async function elsewhere(what: (page: Page) => Promise<unknown>): Promise<void> {
  await what(await house.browser.open(`${other.origin}/`))
}

/** Clicks at a link, with a key held down. */
async function click(page: Page, modifiers: number): Promise<void> {
  for (const type of ['mousePressed', 'mouseReleased']) {
    await page.send('Input.dispatchMouseEvent', { type, x: 10, y: 10, button: 'left', clickCount: 1, modifiers })
  }
}
const CONTROL = 2

const WAYS: Record<string, Way> = {
  'a link to a new tab': async (url) => void (await first.evaluate(`${link(url, "link.target = '_blank';")}.click()`)),
  'a link of a page of nobody’s to a new tab': (url) => elsewhere((page) => page.evaluate(`${link(url, "link.target = '_blank';")}.click()`)),
  'window.open': async (url) => void (await first.evaluate(`void open('${url}')`)),
  'window.open without an opener': async (url) => void (await first.evaluate(`void open('${url}', '_blank', 'noopener')`)),
  'a click with the control key': async (url) => {
    await first.evaluate(`void ${link(url)}`)
    await click(first, CONTROL)
  },
  'a new tab at an address': async (url) => void (await house.browser.cdp.send('Target.createTarget', { url })),
  'an address typed into an empty tab': async (url) => void (await (await house.browser.open()).send('Page.navigate', { url })),
  'a tab that leaves a page of nobody’s': (url) => elsewhere((page) => page.evaluate(`void (location.href = '${url}')`)),
  'an address typed over a page of nobody’s': (url) => elsewhere((page) => page.send('Page.navigate', { url })),
}

async function targets(): Promise<string[]> {
  return (await house.browser.targets()).filter(({ type }) => type === 'page').map(({ targetId }) => targetId)
}

let number = 0

/** Goes a way, and looks whether all is told of where it leads. */
async function go(way: Way): Promise<void> {
  const before = await targets()
  const url = `${shop.origin}/?tab${(number += 1)}.`
  await way(url)
  await whole(await house.relay.tab(url))
  for (const targetId of await targets()) if (!before.includes(targetId)) await house.browser.cdp.send('Target.closeTarget', { targetId })
  assert.ok(!house.relay.heard.some((text) => text.includes('private-line') || text.includes(other.origin)), 'nothing is told of the page before')
  await quiet()
}

for (const [name, way] of Object.entries(WAYS)) {
  test(`${name}: nothing is missing`, async () => {
    for (let time = 0; time < TIMES; time += 1) await go(way)
  })
}

test('a tab that is restored: nothing is missing', async () => {
  for (let time = 0; time < TIMES; time += 1) {
    const url = `${shop.origin}/?tab${(number += 1)}.`
    const page = await house.browser.open(url)
    await whole(await house.relay.tab(url))
    await quiet()
    const known = new Set(house.relay.tabs.keys())
    const before = await targets()
    await house.browser.inWorker(`chrome.debugger.getTargets().then((all) => chrome.tabs.duplicate(all.find((one) => one.url === '${url}').tabId)).then(() => 1)`)
    const again = await until('it is taken', () => [...house.relay.tabs.values()].find((tab) => tab.url === url && !known.has(tab.token)))
    await whole(again)
    for (const targetId of await targets()) if (!before.includes(targetId)) await house.browser.cdp.send('Target.closeTarget', { targetId })
    await page.close()
    await quiet()
  }
})

test('three tabs at once: nothing is missing', async () => {
  for (let time = 0; time < TIMES; time += 1) {
    const before = await targets()
    const urls = [0, 1, 2].map(() => `${shop.origin}/?tab${(number += 1)}.`)
    // One after the other: a person's one click opens one window.
    await Promise.all(urls.map((url) => first.evaluate(`void open('${url}')`)))
    for (const url of urls) await whole(await house.relay.tab(url))
    for (const targetId of await targets()) if (!before.includes(targetId)) await house.browser.cdp.send('Target.closeTarget', { targetId })
    await quiet()
  }
})

test('an answer that comes late is told by who saw its request, with the time that it took', async () => {
  const url = `${shop.origin}/slow`
  const page = await house.browser.open(url)
  const tab = await house.relay.tab(url)
  await until('it is done', () => told(tab).lines.includes('done'))
  await quiet()
  const seen = () => tab.events.flatMap((event) => (event.type === 'browser_debug_network_event' && event.source === 'webRequest' ? [event] : []))
  const sent = seen().find((event) => event.event === 'request' && event.data.url.endsWith('/late'))
  if (sent !== undefined) {
    const ended = await until('its end is told', () => seen().find((event) => event.event === 'finished' && event.data.request_id === sent.data.request_id))
    assert.ok(ended.event === 'finished' && (ended.data.duration_ms ?? 0) >= LATE_MS - 50, JSON.stringify(ended.data))
  }
  await page.close()
})

test('a browser that never takes the listeners up: nothing is missing', async () => {
  await house.browser.inWorker('void (globalThis.isDeaf = true)')
  for (const way of Object.values(WAYS)) for (let time = 0; time < TIMES; time += 1) await go(way)
  await house.browser.inWorker('void (globalThis.isDeaf = false)')
})

test('a worker that was stopped while it listened for little: nothing is missing', async () => {
  for (let time = 0; time < TIMES; time += 1) {
    await house.browser.stopWorker()
    const url = `${shop.origin}/?tab${(number += 1)}.`
    await first.evaluate(`void open('${url}')`)
    const page = (await house.browser.targets()).find((one) => one.url === url)
    await whole(await house.relay.tab(url))
    if (page !== undefined) await house.browser.cdp.send('Target.closeTarget', { targetId: page.targetId })
  }
})

test('the same, when nothing was looked at any more: nothing is missing', async () => {
  await first.close()
  for (let time = 0; time < TIMES; time += 1) {
    await observe()
    await go(WAYS['a new tab at an address'] as Way)
    await house.browser.stopWorker()
    const url = `${shop.origin}/?tab${(number += 1)}.`
    const { targetId } = await house.browser.cdp.send<{ targetId: string }>('Target.createTarget', { url })
    await whole(await house.relay.tab(url))
    await house.browser.cdp.send('Target.closeTarget', { targetId })
  }
})
