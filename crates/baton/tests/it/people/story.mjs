// A person at the live picture of a session: watches, takes over, and gives back.

import assert from 'node:assert/strict'
import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  accessible,
  askTest,
  baton,
  calm,
  clickAt,
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
  visitor as someone,
} from './visitor.mjs'

/** A visitor whose lines to the node are counted. */
async function visitor(viewport) {
  const page = await someone({ viewport })
  page.lines = []
  page.on('websocket', (socket) => page.lines.push(socket))
  return page
}

/** Shows the live picture of the session. */
async function watch(page) {
  await page.getByRole('link', { name: 'shop', exact: true }).click()
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await page.locator('canvas[data-picture]').waitFor()
}

const tabCalled = (page, name) => page.locator('.live-tabs .tab', { hasText: name })

async function takeOver(page) {
  await enter(page)
  await watch(page)
  await page.getByText('kimi drives').waitFor()
  await everywhere(page, 'a live picture')
  await shot(page, 'live-watched', true)
  saw('a live picture, and who drives')

  await page.getByLabel('as', { exact: true }).fill('ada')
  await page.getByRole('button', { name: 'Take over' }).click()
  await page.getByText('You drive as ada').waitFor()
  await everywhere(page, 'a picture that is driven')
  await clickAt(page, 200, 60)
  await page.keyboard.type('ada')
  await page.keyboard.press('Tab')
  await page.keyboard.type('ge')
  // What is pasted comes as text.
  await page.evaluate(() => {
    const data = new DataTransfer()
    data.setData('text/plain', 'heim')
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
    document.activeElement.dispatchEvent(event)
  })
  await page.keyboard.press('Enter')
  await tabCalled(page, 'Signed in as Ada').waitFor()
  // All of it on one screen, for the guide.
  await page.setViewportSize({ width: 900, height: 1600 })
  await page.evaluate(() => scrollTo(0, 0))
  await shot(page.locator('section.live'), 'live-driven')
  await page.setViewportSize(DESKTOP)
  saw('taken over, and signed in by mouse and keys')
}

async function question(page) {
  await clickAt(page, 200, 60)
  const asks = page.getByRole('alertdialog')
  await asks.getByText('Really <b>sure</b>?').waitFor()
  await everywhere(page, 'a question of the page')
  await asks.getByRole('button', { name: 'OK' }).click()
  await tabCalled(page, 'Sure').waitFor()
  await asks.waitFor({ state: 'detached' })
  saw('a question of the page')
}

async function file(page) {
  await clickAt(page, 80, 140)
  const asks = page.getByRole('group', { name: /asks for a file/ })
  await asks.waitFor()
  await everywhere(page, 'a page that asks for a file')
  // What the node does not take is told, and the page is given nothing in its place.
  const long = `${'x'.repeat(300)}.txt`
  await asks.locator('input[type=file]').setInputFiles({ name: long, mimeType: 'text/plain', buffer: Buffer.from('no') })
  await asks.getByRole('alert').waitFor()
  await accessible(page, 'a file that is not taken')
  assert.equal(await tabCalled(page, 'xxx').count(), 0)
  // What is too large is told before any of it is sent.
  const film = fileURLToPath(new URL('film.mkv', import.meta.url))
  writeFileSync(film, '')
  truncateSync(film, 5 * 2 ** 30)
  const puts = []
  page.on('request', (request) => request.method() === 'PUT' && puts.push(request.url()))
  await asks.locator('input[type=file]').setInputFiles(film)
  await asks.getByRole('alert').getByText('expected a file of at most 128.0 MiB, found film.mkv with 5.0 GiB').waitFor()
  await accessible(page, 'a file that is too large')
  assert.deepEqual(puts, [], 'none of it was sent')
  rmSync(film)
  await asks.locator('input[type=file]').setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') })
  await tabCalled(page, 'note.txt').waitFor()
  await asks.waitFor({ state: 'detached' })
  saw('a file of the person')
}

/** What the person has the browser download is among the files beside the picture. */
async function download(page) {
  await clickAt(page, 60, 290)
  await page.getByRole('region', { name: /^Files/ }).getByRole('button', { name: 'till.txt' }).waitFor()
  saw('a file that the browser downloaded')
}

async function wish(page) {
  await clickAt(page, 200, 220)
  const asks = page.getByRole('alertdialog', { name: /^http:\/\/127\.0\.0\.1:\d+ wants to know your location$/ })
  await asks.waitFor()
  await accessible(page, 'what a site wishes for')
  // All of it on one screen, for the guide.
  await page.setViewportSize({ width: 900, height: 1600 })
  await page.evaluate(() => scrollTo(0, 0))
  await shot(page.locator('section.live'), 'live-wish')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize(PHONE)
  await accessible(page, 'what a site wishes for, in the dark')
  await fits(page, 'what a site wishes for')
  await shot(page, 'live-wish-phone', true)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(DESKTOP)
  // By keys alone: out of the picture, and on to the answer.
  await page.locator('textarea.keys').focus()
  await page.keyboard.press('F6')
  const focused = () => page.evaluate(() => document.activeElement.textContent)
  for (let steps = 0; (await focused()) !== 'Allow'; steps++) {
    assert.ok(steps < 30, 'the answer is reached by the tabulator')
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Enter')
  await tabCalled(page, 'Location granted').waitFor()
  await asks.waitFor({ state: 'detached' })
  saw('what the site may')
}

async function leavesByKey(page) {
  await page.locator('textarea.keys').focus()
  await page.keyboard.press('F6')
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Give back')
  saw('out of the picture by a key')
}

async function giveBack(page) {
  await page.keyboard.press('Enter')
  await page.getByText('You watch. kimi drives').waitFor()
  const before = page.lines.length
  const [line] = page.lines.slice(-1)
  const ended = line.isClosed() ? Promise.resolve() : line.waitForEvent('close')
  await hide(page, true)
  await ended
  const again = page.waitForEvent('websocket')
  await hide(page, false)
  await again
  assert.equal(page.lines.length, before + 1)
  await page.getByText('kimi drives').waitFor()
  saw('nothing while nobody looks')
  assert.equal(await askTest('what the agent sees'), '"note.txt"')
  saw('the agent is signed in')
}

/** Of two lines that begin at once the first one ends, and none outlives the picture. */
async function oneLine(page) {
  await page.getByRole('button', { name: 'Stop watching' }).click()
  const asked = []
  let wake = () => undefined
  await page.route('**/live', (route) => {
    asked.push(route)
    wake()
  })
  const asks = async (count) => {
    while (asked.length < count) await new Promise((done) => (wake = done))
  }
  const before = page.lines.length
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await asks(1)
  await hide(page, true)
  await hide(page, false)
  await asks(2)
  for (const route of asked) {
    const answered = page.waitForResponse((answer) => answer.request() === route.request())
    await route.continue()
    await (await answered).finished()
  }
  await page.unroute('**/live')
  await page.locator('canvas[data-picture]').waitFor()
  assert.equal(page.lines.length, before + 1)
  const line = page.lines.at(-1)
  const ended = line.waitForEvent('close')
  await page.getByRole('button', { name: 'Stop watching' }).click()
  await ended
  assert.deepEqual(
    page.lines.filter((line) => !line.isClosed()).map((line) => line.url()),
    [],
  )
  saw('one line at a time, and none that is left')
}

/** The browser dies while it is watched. */
async function dies(page) {
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  const shown = page.locator('.live').getByText(/left out/)
  await shown.waitFor()
  baton('sessions', 'capture', 'shop')
  await askTest('kill the browser')
  const gone = page.getByRole('status').filter({ hasText: 'There is no browser any more' })
  await gone.waitFor()
  assert.equal(await shown.count(), 0)
  await everywhere(page, 'a browser that is gone')
  saw('that the browser is gone')

  await page.locator('.head .badge', { hasText: /Recoverable|Stale/ }).waitFor()
  baton('--as', 'kimi', 'sessions', 'resume', 'shop')
  await shown.waitFor()
  await gone.waitFor({ state: 'detached' })
  await page.getByRole('img', { name: 'Live picture of Signed in as Ada', exact: true }).waitFor()
  saw('the picture of the next one, once it is resumed')
}

async function phone() {
  const page = await visitor(PHONE)
  await enterWithKey(page, 'phone', 'read', 'watch')
  await watch(page)
  assert.equal(await page.getByRole('button', { name: 'Take over' }).count(), 0, 'who may not drive is not asked to')
  await accessible(page, 'a picture on a phone')
  await fits(page, 'a picture on a phone')
  await shot(page, 'live-phone', true)
  saw('a picture on a phone')
  const [line] = page.lines.slice(-1)
  const ended = line.waitForEvent('close')
  baton('keys', 'revoke', 'phone')
  const revoked = performance.now()
  await ended
  const took = Math.round(performance.now() - revoked)
  assert.ok(took < 4000, `the picture ended ${took} ms after its key`)
  await page.getByRole('heading', { name: 'Sign in to Baton' }).waitFor()
  assert.equal(await page.locator('canvas').count(), 0, 'no picture is shown any more')
  await calm(page)
  saw('a picture that goes dark with its key')
}

await tell(async () => {
  const page = await visitor(DESKTOP)
  await takeOver(page)
  await question(page)
  await wish(page)
  await file(page)
  await download(page)
  await leavesByKey(page)
  await giveBack(page)
  await oneLine(page)
  await dies(page)
  await calm(page)
  await phone()
})
