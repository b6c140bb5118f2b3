// A person at the live picture of a session, in a real Chromium. Each step says what it saw hold; the first that does
// not ends it. What only the test can see, it asks for in a line on standard output, and reads a line.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const { BATON, DATA, SHOTS, CHROMIUM } = process.env
const LIMIT = 60_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const askTest = async (what) => {
  console.log(`ask: ${what}`)
  return (await lines.next()).value
}
const baton = (...words) => execFileSync(BATON, ['--data', DATA, ...words], { encoding: 'utf8' }).trim()
const saw = (what) => console.log(`saw: ${what}`)
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })

/** A page of a context of its own, which notes what its policy refused. */
async function visitor(viewport) {
  const context = await browser.newContext({ viewport })
  context.setDefaultTimeout(LIMIT)
  const page = await context.newPage()
  page.refused = []
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) page.refused.push(message.text())
  })
  page.on('pageerror', (error) => page.refused.push(String(error)))
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

async function accessible(page, what) {
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`)
  assert.deepEqual(told, [], what)
}

/** Clicks at a place of the viewport that the picture shows. */
async function clickAt(page, x, y) {
  const canvas = page.locator('.screen canvas')
  await canvas.scrollIntoViewIfNeeded()
  const box = await canvas.boundingBox()
  const [width, height] = (await canvas.getAttribute('data-viewport')).split('x').map(Number)
  await page.mouse.click(box.x + (x * box.width) / width, box.y + (y * box.height) / height)
}

const tabCalled = (page, name) => page.locator('.live-tabs .tab', { hasText: name })
const shot = (page, name) => (SHOTS ? page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true }) : undefined)

async function takeOver(page) {
  await page.goto(baton('dashboard', '--print'))
  await watch(page)
  await page.getByText('kimi drives').waitFor()
  await accessible(page, 'a live picture')
  await shot(page, 'live-watched')
  saw('a live picture, and who drives')

  await page.getByLabel('as', { exact: true }).fill('ada')
  await page.getByRole('button', { name: 'Take over' }).click()
  await page.getByText('You drive as ada').waitFor()
  await accessible(page, 'a picture that is driven')
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
  await shot(page, 'live-driven')
  saw('taken over, and signed in by mouse and keys')
}

async function question(page) {
  await clickAt(page, 200, 60)
  const asks = page.getByRole('alertdialog')
  await asks.getByText('Really <b>sure</b>?').waitFor()
  await accessible(page, 'a question')
  await asks.getByRole('button', { name: 'OK' }).click()
  await tabCalled(page, 'Sure').waitFor()
  await asks.waitFor({ state: 'detached' })
  saw('a question of the page')
}

async function file(page) {
  await clickAt(page, 80, 140)
  const asks = page.getByRole('group', { name: /asks for a file/ })
  await asks.locator('input[type=file]').setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') })
  await tabCalled(page, 'note.txt').waitFor()
  saw('a file of the person')
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
  const hide = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
  const before = page.lines.length
  const [line] = page.lines.slice(-1)
  const ended = line.isClosed() ? Promise.resolve() : line.waitForEvent('close')
  await hide(true)
  await ended
  const again = page.waitForEvent('websocket')
  await hide(false)
  await again
  assert.equal(page.lines.length, before + 1)
  await page.getByText('kimi drives').waitFor()
  saw('nothing while nobody looks')
  assert.equal(await askTest('what the agent sees'), '"note.txt"')
  saw('the agent is signed in')
}

async function phone() {
  const page = await visitor({ width: 390, height: 844 })
  const key = baton('keys', 'create', '--name', 'phone', '--scope', 'read', '--scope', 'watch')
  await page.goto(new URL(baton('dashboard', '--print')).origin)
  await page.getByLabel('Or paste an API key').fill(key.split(/\s+/).find((word) => word.startsWith('baton_')))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await watch(page)
  assert.equal(await page.getByRole('button', { name: 'Take over' }).count(), 0, 'who may not drive is not asked to')
  await accessible(page, 'a picture on a phone')
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth)
  assert.ok(wide <= 0, `it is ${wide} px wider than the screen`)
  await shot(page, 'live-phone')
  saw('a picture on a phone')
  const [line] = page.lines.slice(-1)
  const ended = line.waitForEvent('close')
  baton('keys', 'revoke', 'phone')
  const revoked = performance.now()
  await ended
  console.log(`the picture ended ${Math.round(performance.now() - revoked)} ms after its key`)
  await page.getByRole('heading', { name: 'Sign in to Baton' }).waitFor()
  assert.equal(await page.locator('canvas').count(), 0, 'no picture is shown any more')
  assert.deepEqual(page.refused, [])
  saw('a picture that goes dark with its key')
}

try {
  const page = await visitor({ width: 1280, height: 800 })
  await takeOver(page)
  await question(page)
  await file(page)
  await leavesByKey(page)
  await giveBack(page)
  assert.deepEqual(page.refused, [], 'the policy refused nothing, and nothing failed')
  await phone()
} finally {
  await browser.close()
}
process.exit(0)
