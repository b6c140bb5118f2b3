// A guest at a link, in a real Chromium that knows nothing of the node. Each step says what it saw hold.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const { LINK, SHOTS, CHROMIUM } = process.env
const LIMIT = 60_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const saw = (what) => console.log(what)
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
const shot = (page, name) => (SHOTS ? page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true }) : undefined)

async function visitor(how = {}) {
  const context = await browser.newContext(how)
  context.setDefaultTimeout(LIMIT)
  const page = await context.newPage()
  page.refused = []
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) page.refused.push(message.text())
  })
  page.on('pageerror', (error) => page.refused.push(String(error)))
  return page
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

const titled = (page, title) => page.getByRole('img', { name: `Live picture of ${title}`, exact: true }).waitFor()

async function invited(page) {
  await page.goto(LINK)
  await page.getByRole('heading', { name: 'kimi asks you' }).waitFor()
  await page.getByText('sign in to the bank').waitFor()
  await page.getByText('while it is at bank.localhost').waitFor()
  await accessible(page, 'an invitation')
  await page.setViewportSize({ width: 390, height: 844 })
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it fits a phone')
  await shot(page, 'asked-phone')
  await page.setViewportSize({ width: 1280, height: 800 })
  saw('who asks for what, in another browser')
}

/** A page of somebody else that frames the link shows nothing of it. */
async function framed() {
  const server = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html')
    answer.end(`<iframe src="${LINK}"></iframe>`)
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  const page = await visitor()
  const refused = new Promise((done) => page.on('console', (message) => /frame/i.test(message.text()) && done()))
  await page.goto(`http://127.0.0.1:${server.address().port}/`)
  await refused
  assert.ok(!(await page.frames().at(-1).content()).includes('kimi'))
  await page.context().close()
  server.close()
  saw('refused in a frame')
}

async function opens(page) {
  await page.getByLabel('Your name').fill('ada')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.locator('canvas[data-picture]').waitFor()
  await titled(page, 'Sign in')
  assert.equal(await page.getByLabel('Address').count(), 0)
  assert.equal(await page.getByLabel('Tabs of the browser').count(), 0)
  assert.ok(!page.url().includes(LINK.split('/').at(-1)), 'the secret is out of the address')
  await page.locator('.screen.driven').waitFor()
  await accessible(page, 'the one tab')
  await shot(page, 'asked-inside')
  saw('the one tab, without an address')
}

async function signsIn(page) {
  await clickAt(page, 200, 60)
  await page.keyboard.type('ada')
  await page.keyboard.press('Tab')
  await page.keyboard.type('geheim')
  await page.keyboard.press('Enter')
  await titled(page, 'One more code')
  await clickAt(page, 200, 60)
  await page.keyboard.type('123456')
  await page.keyboard.press('Enter')
  await titled(page, 'Signed in as Ada')
  saw('signed in with a second factor')
}

async function strays(page) {
  await clickAt(page, 80, 295)
  const alert = page.getByRole('alert').filter({ hasText: 'ads.localhost' })
  await alert.first().waitFor()
  assert.ok(!(await page.content()).includes('A secret title'))
  await page.locator('.screen.dark').waitFor()
  await accessible(page, 'elsewhere')
  await shot(page, 'asked-away')
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await titled(page, 'Signed in as Ada')
  await page.locator('.screen:not(.dark)').waitFor()
  saw('dark where it was not asked for, and back')
}

async function done(page) {
  await page.getByRole('button', { name: 'Done', exact: true }).click()
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  await accessible(page, 'the end')
  saw('done')
  const other = await visitor({ colorScheme: 'dark' })
  await other.goto(LINK)
  await other.getByText('found one that was used already').waitFor()
  await accessible(other, 'a link that counts no more')
  assert.deepEqual([...page.refused, ...other.refused], [])
  saw('a link that counts no more')
}

const page = await visitor({ viewport: { width: 1280, height: 800 } })
await invited(page)
await framed()
await opens(page)
await signsIn(page)
await strays(page)
await done(page)
await browser.close()
