// A person at the page of a node: sessions, one session, its files, and who else may see them.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
import {
  accessible,
  askTest,
  baton,
  calm,
  DESKTOP,
  enter,
  enterWithKey,
  everywhere,
  fits,
  hide,
  PHONE,
  saw,
  shot,
  tell,
  toEndOf,
  visitor,
} from './visitor.mjs'

const { DATA, SITE } = process.env
const badge = (scope, word) => scope.locator('.badge', { hasText: word })
const rowOf = (page, name) => page.locator('.row', { has: page.getByRole('link', { name, exact: true }) })

async function firstVisit() {
  const page = await visitor({ viewport: DESKTOP })
  const url = await enter(page)
  assert.ok(!page.url().includes('code'), 'the code is gone from the address')
  await page.getByText('baton open https://example.org --name shop --headed').waitFor()
  await accessible(page, 'without a session')
  await shot(page, 'empty')
  saw('no session, and the first command')

  baton('open', SITE, '--name', 'shop')
  await badge(rowOf(page, 'shop'), 'Active').waitFor()
  saw('a session that was opened elsewhere')

  const second = await visitor({ viewport: DESKTOP })
  second.home = page.home
  await second.goto(url)
  await second.getByRole('alert').getByText('found one that does not count').waitFor()
  await everywhere(second, 'signed out')
  await shot(second, 'sign-in')
  await second.context().close()
  saw('a code that counts once')
  return page
}

async function captureCloseResume(page, size) {
  await page.goto(page.url().split('#')[0] + '#/')
  const row = rowOf(page, 'shop')
  await row.getByRole('button', { name: 'Capture shop' }).click()
  await page.locator('.notice', { hasText: 'Shop: captured' }).waitFor()
  await row.locator('img.picture').waitFor()
  await row.locator('img.site-icon').waitFor()
  await row.getByText(/^captured (just now|\d+ (min|h) ago)$/).waitFor()
  await row.locator('.login', { hasText: /^127\.0\.0\.1 first cookie ends in \d+ d$/ }).waitFor()
  await accessible(page, `the list, ${size}`)
  await fits(page, `the list, ${size}`)
  await row.getByRole('button', { name: 'Close shop' }).click()
  await badge(row, 'Closed').waitFor()

  await page.getByRole('link', { name: 'shop', exact: true }).click()
  await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor()
  await page.getByText('Ada at the counter').first().waitFor()
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await page.getByText('Resume is under way').waitFor()
  await page.getByRole('heading', { name: /^Resume: back, \d+ restored/ }).waitFor()
  const items = page.getByRole('list', { name: 'Items of the receipt' })
  await items.getByText('Restored').first().waitFor()
  await items.getByText('local storage').first().waitFor()
  await badge(page.locator('.head'), 'Active').waitFor()
  await page.locator('.shot img.picture').nth(1).waitFor()
  await page.locator('.head img.site-icon').waitFor()
  const logins = page.getByRole('region', { name: /^Signed in at/ })
  await toEndOf(logins)
  await logins.getByRole('listitem').filter({ hasText: '127.0.0.1' }).getByText('first cookie ends in').waitFor()
  await page.getByText('How long it took').click()
  await page.locator('.steps li').first().waitFor()
  await accessible(page, `the session, ${size}`)
  await fits(page, `the session, ${size}`)
  saw(`captured, closed and resumed, item by item, ${size}`)
}

/** Two pictures of the history, and what changed from the one to the other. */
async function compare(page) {
  const shots = page.locator('.shot')
  await shots.last().focus()
  await page.keyboard.press('Enter')
  const compares = page.getByRole('button', { name: 'Compare with …' })
  await compares.focus()
  await page.keyboard.press('Enter')
  await page.getByText('Choose the picture to compare it with').waitFor()
  await shots.first().focus()
  await page.keyboard.press('Enter')
  const both = page.getByRole('region', { name: 'What changed between the two' })
  await page.waitForFunction(() => document.activeElement.id === 'compare')
  await both.locator('img.picture').nth(1).waitFor()
  const [before, after] = await both.locator('img.picture').all()
  const [left, right] = [await before.boundingBox(), await after.boundingBox()]
  assert.ok(left.y === right.y && left.x + left.width < right.x, 'beside each other')
  await both.getByText('opened').waitFor()
  const changes = both.getByRole('list', { name: 'What changed, by site and kind' })
  await toEndOf(both)
  const stored = changes.getByRole('button', { name: /127\.0\.0\.1\s*local storage/ })
  await stored.focus()
  await page.keyboard.press('Enter')
  await both.locator('.names', { hasText: 'coupon' }).waitFor()
  assert.ok(await both.locator('.names', { hasText: 'visits' }).isVisible())
  await changes.getByRole('button', { name: /127\.0\.0\.1\s*cookie/ }).click()
  await both.locator('.names', { hasText: 'session_id' }).waitFor()
  const text = await both.textContent()
  assert.ok(!text.includes('plums') && !text.includes('4f1c88ab'), 'no value is shown')
  await accessible(page, 'a comparison')
  await page.locator('.notice p').waitFor({ state: 'detached' })
  await shot(both, 'compare-desktop-light')
  await page.emulateMedia({ colorScheme: 'dark' })
  await accessible(page, 'a comparison, dark')
  await shot(both, 'compare-desktop-dark')
  await page.setViewportSize(PHONE)
  await fits(page, 'a comparison on a phone')
  const [top, below] = [await before.boundingBox(), await after.boundingBox()]
  assert.ok(top.y + top.height < below.y, 'below each other on a phone')
  await accessible(page, 'a comparison on a phone')
  await shot(both, 'compare-phone-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await accessible(page, 'a comparison on a phone, light')
  await page.setViewportSize(DESKTOP)
  await both.getByRole('button', { name: 'End the comparison' }).click()
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Compare with …')
  saw('two pictures beside each other, and what changed between them')

  // What the node answers is made up from here on: a history seldom has such.
  const place = /\/sessions\/[^/]+\/diff\?/
  const again = async (answer) => {
    await page.route(place, answer)
    // What was answered before is forgotten by it.
    await page.reload()
    await page.locator('.shot img.picture').nth(1).waitFor()
    await shots.first().click()
    await compares.click()
    await shots.last().click()
    await both.waitFor()
  }
  const none = { a: {}, b: {}, added: 0, removed: 0, changed: 0, items: [] }
  await again((route) => route.fulfill({ json: { ...none, unreadable: ['a part of <b>it</b>'] } }))
  await both.getByText('Nothing changed: both hold the same').waitFor()
  await both.getByText('1 part of the two cannot be read').waitFor()
  await accessible(page, 'two that are equal')
  saw('two snapshots that are equal')

  await page.unroute(place)
  const detail = 'expected a snapshot of shop, found none that is called so'
  await again((route) => route.fulfill({ status: 404, json: { code: 'not_found', title: 'Not found', status: 404, detail } }))
  await both.getByRole('alert').getByText(detail.slice(1)).waitFor()
  await accessible(page, 'a snapshot that is gone')
  await page.unroute(place)
  await both.getByRole('button', { name: 'Ask again' }).click()
  await both.getByRole('list', { name: 'How much changed' }).waitFor()
  saw('a snapshot that is gone')

  await again((route) => {
    const items = [...Array(500).keys()].flatMap((index) => {
      const site = `site${index}.test`
      const cookie = { kind: 'cookie', where: `${site}/ <b>sid</b>`, site, change: 'changed', fields: ['value'] }
      return [cookie, { kind: 'local_storage', where: `https://${site}/`, entry: `note ${index}`, site, change: 'added' }]
    })
    return route.fulfill({ json: { ...none, added: 500, changed: 500, items } })
  })
  await both.getByText('at 500 sites').waitFor()
  await toEndOf(both)
  const rows = () => both.locator('.change').count()
  assert.ok((await rows()) < 60, `${await rows()} rows in the page`)
  await both.locator('.change').first().focus()
  await page.keyboard.press('End')
  await page.waitForFunction(() => document.activeElement.textContent.includes('site99.test'))
  await both.getByRole('searchbox').fill('note 499')
  await both.locator('.change', { hasText: 'site499.test' }).waitFor()
  assert.equal(await rows(), 1)
  assert.equal(await both.locator('.change b, .names b b').count(), 0, 'names are text')
  await accessible(page, 'five hundred sites')
  await both.getByRole('searchbox').fill('')
  await both.locator('.change').nth(3).waitFor()
  await shot(page, 'compare-many')
  await page.unroute(place)
  await both.getByRole('button', { name: 'End the comparison' }).click()
  saw('five hundred sites that changed')
}

async function rollBack(page) {
  await page.locator('.shot').last().click()
  await page.getByRole('button', { name: 'Roll back to this' }).click()
  const dialog = page.getByRole('dialog')
  await everywhere(page, 'a question whether to roll back')
  await dialog.getByRole('button', { name: 'Roll back' }).click()
  await page.getByRole('heading', { name: /^Roll back: back/ }).waitFor()
  saw('rolled back to a picture of the history')
}

async function files(page) {
  await page.getByLabel('Add a file').setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') })
  const file = page.getByRole('button', { name: 'note.txt' })
  await file.waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), file.click()])
  assert.equal(readFileSync(await download.path(), 'utf8'), 'hello')
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await everywhere(page, 'a question how to export')
  const [exported] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Session file' }).click()])
  const text = readFileSync(await exported.path(), 'utf8')
  await page.goto(page.url().split('#')[0] + '#/')
  await page.getByRole('heading', { name: 'Sessions', exact: true, level: 1 }).waitFor()
  // The name is taken while the session is there.
  const drop = (name, body) =>
    page.evaluate(
      ([name, body]) => {
        const data = new DataTransfer()
        data.items.add(new File([body], name))
        const bubbles = { dataTransfer: data, bubbles: true, cancelable: true }
        document.body.dispatchEvent(new DragEvent('dragover', bubbles))
        document.body.dispatchEvent(new DragEvent('drop', bubbles))
      },
      [name, body],
    )
  await drop('shop.json', text)
  await page.locator('.notice .failed', { hasText: 'shop.json' }).waitFor()
  const renamed = JSON.stringify({ ...JSON.parse(text), name: 'copy' })
  await drop('copy.json', renamed)
  await page.locator('.notice', { hasText: 'is here, recoverable' }).waitFor()
  await page.getByRole('heading', { name: 'copy', level: 1 }).waitFor()
  await page.locator('.head').getByRole('button', { name: 'Delete', exact: true }).click()
  await everywhere(page, 'a question whether to delete')
  await page.getByRole('dialog', { name: 'Delete copy?' }).getByRole('button', { name: 'Cancel' }).click()
  saw('files put and fetched, a session exported, and imported by a drop')
}

/** What programs of the same host get of it. */
async function strangers(page) {
  const origin = `http://${page.home}`
  const cookies = await page.context().cookies(origin)
  assert.ok(cookies.length > 0 && cookies.every((one) => one.httpOnly && one.sameSite === 'Strict'), JSON.stringify(cookies))
  const alone = await page.evaluate(async () => (await fetch('/sessions', { credentials: 'include' })).status)
  assert.equal(alone, 401, 'the cookie alone opens nothing')
  const value = await page.evaluate(() => sessionStorage.getItem('baton-page'))
  const bare = await fetch(`${DATA_URL()}/sessions`, { headers: { 'Baton-Page': value } })
  assert.equal(bare.status, 401, 'the value alone opens nothing')

  let seen
  const server = createServer((request, response) => {
    seen = request.headers.cookie
    response.setHeader('content-type', 'text/html').end('<title>other</title>')
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  const other = await page.context().newPage()
  await other.goto(`http://${page.home.split(':')[0]}:${server.address().port}/`)
  const got = await other.evaluate(async (origin) => {
    const ways = [{ credentials: 'include' }, { credentials: 'include', mode: 'no-cors' }, { credentials: 'include', headers: { 'Baton-Page': 'x' } }]
    const ends = await Promise.all(ways.map((way) => fetch(`${origin}/sessions`, way).then((answer) => answer.text(), (error) => error.name)))
    return [...ends, JSON.stringify(sessionStorage), document.cookie]
  }, origin)
  assert.deepEqual(got, ['TypeError', '', 'TypeError', '{}', ''])
  assert.ok(cookies.some((one) => seen?.includes(`${one.name}=${one.value}`)), 'the other port is shown the cookie')
  const replayed = await fetch(`${DATA_URL()}/sessions`, { headers: { cookie: seen } })
  assert.equal(replayed.status, 401, 'what it was shown opens nothing')
  await other.close()
  server.close()
  saw('nothing that another port of this host could use')
}

const DATA_URL = () => JSON.parse(readFileSync(`${DATA}/node.json`, 'utf8')).url

/** Nobody looks: the node is not listened to, and not asked. */
async function unseen(page) {
  await page.goto(page.url().split('#')[0] + '#/')
  await rowOf(page, 'copy').waitFor()
  const other = await visitor({ viewport: DESKTOP })
  await enter(other)
  const asked = []
  page.on('request', (request) => asked.push(request.url()))
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/events'))
  await hide(page, true)
  await ended
  asked.length = 0
  baton('sessions', 'capture', 'shop')
  baton('sessions', 'close', 'copy')
  // Whoever looks has seen it by then, and what this one asked would be heard of.
  await badge(rowOf(other, 'copy'), 'Closed').waitFor()
  await other.context().close()
  await page.evaluate(() => 0)
  assert.deepEqual(asked, [], 'nothing is asked while nobody looks')
  await hide(page, false)
  await badge(rowOf(page, 'copy'), 'Closed').waitFor()
  saw('silence while nobody looks')
}

/** What does not come just then is asked for again, and nothing is said of it meanwhile; so is what is another one. */
async function late() {
  const page = await visitor({ viewport: DESKTOP })
  let asked = 0
  const problem = { code: 'busy', title: 'Busy', detail: 'the node has too much to do', status: 503 }
  const busy = { status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) }
  await page.route(/\/sessions\/[0-9a-f-]{36}$/, (route) => (asked++ < 2 ? route.fulfill(busy) : route.continue()))
  await enter(page)
  await rowOf(page, 'shop').waitFor()
  assert.equal(await page.getByText('not captured yet').count(), 0)
  await rowOf(page, 'shop').getByText(/^captured /).waitFor()
  assert.ok(asked > 2, `${asked}`)
  const who = rowOf(page, 'shop').locator('.who')
  baton('sessions', 'pass', 'shop', '--to', 'kimi', '--reason', 'its turn')
  await who.getByText('driven by kimi').waitFor()
  baton('sessions', 'pass', 'shop', '--to', 'nobody', '--as', 'kimi')
  await who.waitFor({ state: 'detached' })
  await page.context().close()
  saw('what came late, and who drives now')
}

/** Somebody looks, and nothing happens: nothing is asked, however long. Its clock is turned by hand. */
async function idle() {
  baton('sessions', 'close', 'shop')
  const page = await visitor({ viewport: DESKTOP })
  const [asked, open] = [[], new Set()]
  page.on('request', (request) => {
    asked.push(request.url())
    if (!request.url().includes('/events')) open.add(request)
  })
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => open.delete(request))
  await page.clock.install()
  await enter(page)
  // What came is read by then, and drawn: neither goes by the clock that is turned.
  const drawn = async () => {
    do
      await page.evaluate(async () => {
        for (let round = 0; round < 3; round++) {
          await new Blob(['read']).arrayBuffer()
          await new Promise((done) => new IntersectionObserver(done).observe(document.body))
        }
      })
    while (open.size > 0)
  }
  // The limits of what is asked go by that clock too, so it is turned by less than they are, while nothing is asked.
  const goesOn = async (seconds) => {
    for (let turned = 0; turned < seconds; turned += 20) {
      await drawn()
      await page.clock.runFor(20_000)
    }
    await drawn()
  }
  const rests = async (what) => {
    // What the view asks at first is answered, and leads to nothing more.
    for (let minutes = 0; asked.length > 0; minutes++) {
      assert.ok(minutes < 60, `${asked}, ${what}`)
      asked.length = 0
      await goesOn(60)
    }
    await page.clock.runFor('01:00:00')
    await drawn()
    assert.deepEqual(asked, [], what)
  }
  await badge(rowOf(page, 'shop'), 'Closed').waitFor()
  await rowOf(page, 'shop').locator('img.picture').waitFor()
  await rests('the list')
  await rowOf(page, 'shop').getByText(/^captured \d+ h ago$/).waitFor()
  await page.getByRole('link', { name: 'shop', exact: true }).click()
  await page.locator('.shot img.picture').first().waitFor()
  await rests('a session')
  baton('sessions', 'resume', 'shop')
  await badge(page.locator('.head'), 'Active').waitFor()
  await calm(page)
  await page.context().close()
  saw('silence while nothing happens, for hours')
}

async function keys(page) {
  await page.goto(page.url().split('#')[0] + '#/')
  // Another page saw first that it runs.
  await badge(rowOf(page, 'shop'), 'Active').waitFor()
  await rowOf(page, 'shop').getByRole('link').focus()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Capture shop')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor()
  // A reader hears where it is, once the view is drawn.
  await page.waitForFunction(() => document.activeElement.tagName === 'H1')
  saw('the way by keys alone')
}

async function restart(page) {
  await page.goto(page.url().split('#')[0] + '#/')
  await askTest('stop the node')
  await page.getByText('What is shown is what was known last').waitFor()
  await everywhere(page, 'a node that is gone')
  assert.equal(await rowOf(page, 'shop').count(), 1)
  await askTest('start the node')
  await page.getByText('What is shown is what was known last').waitFor({ state: 'detached' })
  await rowOf(page, 'shop').getByRole('button', { name: /Capture|Resume/ }).waitFor()
  saw('a node that restarts, and a page that goes on')
}

async function revoked() {
  const page = await visitor({ viewport: PHONE, colorScheme: 'dark' })
  await enterWithKey(page, 'phone', 'read', 'drive')
  await rowOf(page, 'shop').waitFor()
  await captureCloseResume(page, 'on a phone')
  await shot(page, 'session-phone-dark')
  await page.goto(page.url().split('#')[0] + '#/')
  await rowOf(page, 'shop').waitFor()
  await shot(page, 'sessions-phone-dark')
  baton('keys', 'revoke', 'phone')
  const since = performance.now()
  await page.getByRole('heading', { name: 'Sign in to Baton' }).waitFor()
  const took = Math.round(performance.now() - since)
  assert.ok(took < 4000, `the page went dark ${took} ms after its key`)
  assert.equal(await page.getByText('shop').count(), 0, 'nothing of it is shown any more')
  assert.equal(await page.evaluate(() => sessionStorage.length), 0)
  await calm(page)
  await page.context().close()
  saw('a page that goes dark with its key')
}

async function signOut(page) {
  const [cookie] = await page.context().cookies(`http://${page.home}`)
  const value = await page.evaluate(() => sessionStorage.getItem('baton-page'))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Baton' }).waitFor()
  const headers = { 'Baton-Page': value, cookie: `${cookie.name}=${cookie.value}` }
  const after = async () => (await fetch(`${DATA_URL()}/sessions`, { headers })).status
  for (let tries = 0; (await after()) !== 401; tries++) assert.ok(tries < 100, 'signed out is signed out')
  saw('signed out')
}

async function pictures() {
  for (const [size, viewport] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ]) {
    for (const scheme of ['light', 'dark']) {
      const page = await visitor({ viewport, colorScheme: scheme })
      await enter(page)
      await rowOf(page, 'shop').locator('img.picture').waitFor()
      await accessible(page, `${size}, ${scheme}`)
      await shot(page, `sessions-${size}-${scheme}`)
      await page.getByRole('link', { name: 'shop', exact: true }).click()
      await page.locator('.shot img.picture').first().waitFor()
      await accessible(page, `one session, ${size}, ${scheme}`)
      await shot(page, `session-${size}-${scheme}`)
      await calm(page)
      await page.context().close()
    }
  }
  saw('both sizes, light and dark')
}

await tell(async () => {
  const page = await firstVisit()
  await captureCloseResume(page, 'on a desktop')
  await compare(page)
  await rollBack(page)
  await files(page)
  await strangers(page)
  await unseen(page)
  await late()
  await idle()
  await keys(page)
  await pictures()
  await restart(page)
  await revoked()
  page.foreign.splice(0)
  await calm(page)
  await signOut(page)
})
