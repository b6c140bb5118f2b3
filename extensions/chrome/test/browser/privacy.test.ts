// What must not leave the browser does not: secrets, other sites, what happens while a tab is paused.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { House } from '../kit/house.ts'
import { TALKER } from '../kit/pages.ts'
import type { Site } from '../kit/site.ts'
import { until } from '../kit/wait.ts'

/** Long enough not to be there by chance. */
const SECRETS = {
  password: 'planted-password-4711',
  cookie: 'planted-cookie-4712',
  header: 'planted-header-4713',
  query: 'planted-query-4714',
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.c2lnbmF0dXJl',
  body: 'planted-body-4715',
  line: 'planted-line-4716',
  socket: 'planted-socket-4717',
  title: 'planted-title-4718',
}

let house: House
let shop: Site
let other: Site

before(async () => {
  house = await House.open()
  other = await house.site('bank', { '/': TALKER.replaceAll('hello', 'private-line'), '/said': 'private' }, { hasToken: false })
  const pages: Parameters<House['site']>[1] = { '/': TALKER, '/said': 'yes' }
  shop = await house.site('shop', pages)
  pages['/planted'] = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': `sid=${SECRETS.cookie}` })
    response.end(`<!doctype html><title>token=${SECRETS.title}</title><link rel=icon href=data:,><script>(async () => {
      await fetch('/login?api_key=${SECRETS.query}', { method: 'POST', headers: { 'x-api-key': '${SECRETS.header}', 'content-type': 'application/json' },
        body: JSON.stringify({ user: 'ada', password: '${SECRETS.password}' }) }).then((it) => it.text())
      console.log('token', ['${SECRETS.line.slice(0, 8)}', '${SECRETS.line.slice(8)}'].join('')); console.log('got ${SECRETS.jwt}')
      const socket = new WebSocket('${shop.echo}')
      await new Promise((open) => socket.onopen = open)
      socket.send(JSON.stringify({ secret: '${SECRETS.socket}' }))
      await new Promise((answer) => socket.onmessage = answer)
      console.log('done')
    })()</script>`)
  }
  pages['/login'] = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ access_token: SECRETS.body, name: 'Ada Lovelace' }))
  }
  await house.paired()
})
after(() => house.close())

const heard = () => house.relay.heard.join('\n')

test('planted secrets never leave the browser, and what is around them does', async () => {
  const page = await house.browser.open(`${shop.origin}/planted`)
  const tab = await house.relay.tab(shop.origin)
  const isDone = () => tab.events.filter((event) => event.type === 'browser_debug_console_event' && event.entry.message === 'done').length
  await until('the page is done', () => isDone() === 1)
  await page.send('Page.reload')
  await until('the page is done once more', () => isDone() === 2)
  await page.close()
  await until('the tab is closed', () => tab.isClosed)
  for (const [what, secret] of Object.entries(SECRETS)) assert.ok(!heard().includes(secret), `the ${what}`)
  for (const shown of ['Ada Lovelace', '\\"user\\":\\"ada\\"', 'api_key=[redacted]', '[redacted]']) {
    assert.ok(heard().includes(shown), `${shown} is there`)
  }
})

test('secrets of a tab are sent once the person says so, and no longer when not', async () => {
  const wanted = { password: 'wanted-password-5711', bearer: 'wanted-bearer-5712', line: 'wanted-line-5713' }
  const pages = { '/': TALKER, '/said': 'yes', '/login': JSON.stringify({ access_token: 'wanted-body-5714' }) }
  const site = await house.site('vault', pages)
  const [page, beside] = [await house.browser.open(`${site.origin}/`), await house.browser.open(`${shop.origin}/`)]
  const tab = await house.relay.tab(site.origin)
  await house.relay.tab(shop.origin)
  const log_in = `(async () => {
    await fetch('/login', { method: 'POST', headers: { authorization: 'Bearer ${wanted.bearer}' }, body: 'password=${wanted.password}' }).then((it) => it.text())
    console.log('token', '${wanted.line}')
  })()`
  const lines = () => tab.events.filter((event) => event.type === 'browser_debug_console_event' && event.entry.message.startsWith('token')).length
  const sent = () => JSON.stringify(tab.events)
  const secrets = [...Object.values(wanted), 'wanted-body-5714']

  const popup = await house.browser.popup()
  const row = "[...document.querySelectorAll('#tabs li')].find((row) => row.innerText.includes('vault'))"
  const shown = (words: string) => until(words, () => popup.evaluate<boolean>(`${row}?.innerText.includes('${words}') === true`))
  const click = () => popup.evaluate(`${row}.querySelector('.secrets').click()`)
  await shown('Send secrets too')
  await page.evaluate(log_in)
  await until('it is told', () => lines() === 1)
  for (const secret of secrets) assert.ok(!heard().includes(secret), secret)

  await click()
  await shown('Secrets of this tab are sent too.')
  await page.evaluate(log_in)
  await until('it is told', () => lines() === 2)
  await until('the body is told', () => sent().includes('wanted-body-5714'))
  for (const secret of secrets) assert.ok(sent().includes(secret), secret)
  const whole = heard().length
  await beside.evaluate("fetch('/said?api_key=wanted-elsewhere').then((it) => it.text())")
  await until('the other tab is told of', () => heard().includes('api_key=[redacted]'))

  await click()
  await shown('Send secrets too')
  await page.evaluate(log_in)
  await until('it is told', () => lines() === 3)
  await page.close()
  await until('the tab is closed', () => tab.isClosed)
  for (const secret of [...secrets, 'wanted-elsewhere']) assert.ok(!heard().slice(whole).includes(secret), secret)
  await beside.close()
  await popup.close()
})

test('nothing is told of the page before, nor of where the tab goes next', async () => {
  const page = await house.browser.open(`${other.origin}/?from`)
  await page.goto(`${shop.origin}/`)
  const tab = await house.relay.tab(shop.origin)
  await page.evaluate("say('here')")
  await until('the page is told of', () => heard().includes('word=here'))
  await page.goto(`${other.origin}/?to`)
  await until('the tab is closed', () => tab.isClosed)
  await page.evaluate("say('unheard')")
  await page.goto(`${shop.origin}/`)
  const again = await house.relay.tab(shop.origin)
  assert.notEqual(again.token, tab.token, 'who left comes back as another')
  await page.evaluate("say('here-again')")
  await until('the page is told of', () => heard().includes('word=here-again'))
  for (const word of ['private-line', 'unheard', other.origin]) assert.ok(!heard().includes(word), word)
  await page.close()
})

test('while a person pauses a tab nothing is told of it', async () => {
  const page = await house.browser.open(`${shop.origin}/`)
  const tab = await house.relay.tab(shop.origin)
  const popup = await house.browser.popup()
  const toggle = () => popup.evaluate<string>("document.querySelector('#tabs .toggle')?.innerText ?? ''")
  await until('the popup shows the tab', async () => (await toggle()) === 'Pause')
  await popup.evaluate("document.querySelector('#tabs .toggle').click()")
  await until('it is paused', async () => (await toggle()) === 'Resume')
  await page.evaluate("say('paused-word')")
  await popup.evaluate("document.querySelector('#tabs .toggle').click()")
  await until('it is resumed', async () => (await toggle()) === 'Pause')
  await until('the debugger is there', () => house.browser.inWorker("chrome.debugger.getTargets().then((all) => all.some((one) => one.attached && one.url.includes('shop')))"))
  const isHeard = async (word: string) => {
    await page.evaluate(`say('${word}')`)
    return heard().includes(`word=${word}`)
  }
  await until('it is told again', () => isHeard('resumed-word'))
  assert.ok(!heard().includes('paused-word'))
  assert.equal(tab.isClosed, false)
  await popup.close()
  await page.close()
})

test('a site with a token that is no cocoon of the person is not looked at', async () => {
  const stranger = await house.site('stranger', { '/': TALKER, '/said': 'yes' })
  house.relay.cocoons = house.relay.cocoons.filter(({ id }) => id !== 'stranger')
  const page = await house.browser.open(`${stranger.origin}/`)
  await page.evaluate("say('strange')")
  const attached = await house.browser.inWorker<boolean>("chrome.debugger.getTargets().then((all) => all.some((one) => one.attached && one.type === 'page' && one.extensionId === chrome.runtime.id))")
  assert.equal(attached, false)
  assert.ok(!heard().includes('strange'))
  await page.close()
})

test('a cocoon that is new is known by its first page', async () => {
  const late = await house.site('late', { '/': TALKER, '/said': 'yes' })
  const page = await house.browser.open(`${late.origin}/`)
  let reloads = 0
  const taken = () => [...house.relay.tabs.values()].filter((one) => one.url.startsWith(late.origin))
  await until('the tab is taken', async () => {
    if (taken().length > 0) return true
    reloads += 1
    await page.send('Page.reload').catch(() => {})
    return false
  })
  // Of a page that was loaded again the beginning may be known.
  if (reloads === 0) assert.equal(taken()[0]?.firstLoad, true)
  // A reload that was still on its way makes another tab of it.
  await until('its line is told', () => taken().some((tab) => tab.events.some((event) => event.type === 'browser_debug_console_event' && event.entry.message === 'hello')))
  await page.close()
})
