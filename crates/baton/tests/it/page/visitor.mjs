// A person in a real Chromium, for the stories of the page: what they see is said line by line, and the first step that
// does not hold ends the story. What only the test can do, it is asked for in a line on standard output, and answers
// with one on standard input.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const { BATON, DATA, SHOTS, CHROMIUM } = process.env
const LIMIT = 60_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 390, height: 844 }

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

/** Has the test do something; its answer. */
export async function askTest(what) {
  console.log(`ask: ${what}`)
  return (await lines.next()).value
}

/** Runs a command of Baton; what it printed. */
export const baton = (...words) => execFileSync(BATON, ['--data', DATA, ...words], { encoding: 'utf8' }).trim()
export const saw = (what) => console.log(`saw: ${what}`)
export const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })

/** Tells a story to its end. Where a step does not hold, what each page shows then is said as well. */
export async function tell(story) {
  try {
    await story()
  } catch (error) {
    for (const page of browser.contexts().flatMap((context) => context.pages())) {
      const text = await page.locator('body').innerText({ timeout: 5_000 }).catch(String)
      console.error(`${page.url().split('#')[0]} shows:\n${text.slice(0, 4_000)}\n`)
    }
    throw error
  } finally {
    await browser.close()
  }
  process.exit(0)
}

/** A page of a context of its own, which notes what its policy refused and which other hosts were asked. */
export async function visitor(how = {}) {
  const context = await browser.newContext(how)
  context.setDefaultTimeout(LIMIT)
  const page = await context.newPage()
  page.refused = []
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) page.refused.push(message.text())
  })
  page.on('pageerror', (error) => page.refused.push(String(error)))
  page.foreign = []
  const asks = (url) => {
    const { protocol, host } = new URL(url)
    if (protocol !== 'blob:' && host !== page.home) page.foreign.push(url)
  }
  page.on('request', (request) => asks(request.url()))
  page.on('websocket', (socket) => asks(socket.url()))
  await context.addInitScript(() => {
    globalThis.violations = []
    addEventListener('securitypolicyviolation', (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`))
  })
  return page
}

/** Opens the page with an address of `baton dashboard`. */
export async function enter(page, url = baton('dashboard', '--print')) {
  page.home = new URL(url).host
  await page.goto(url)
  await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
  return url
}

/** Opens the page with a key of these scopes. */
export async function enterWithKey(page, name, ...scopes) {
  const key = baton('keys', 'create', '--name', name, ...scopes.flatMap((scope) => ['--scope', scope]))
  const url = new URL(baton('dashboard', '--print'))
  page.home = url.host
  await page.goto(url.origin)
  await page.getByLabel('Or paste an API key').fill(key.split(/\s+/).find((word) => word.startsWith('baton_')))
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Makes the page believe that nobody looks at it, or that somebody does again. */
export const hide = (page, hidden) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)

/** Waits until an element has the focus, which the node may have to answer for. */
export const focused = (place) =>
  place.evaluate(
    (element) =>
      new Promise((done) => {
        if (document.activeElement === element) done()
        else element.addEventListener('focus', () => done(), { once: true })
      }),
  )

/** How many steps may lead from one place to another. */
const MOST_STEPS = 60

/** Whether an element has the focus now. */
export const has = (place) => place.evaluate((element) => document.activeElement === element)

/** Goes to an element step by step, as a person does who has no mouse. */
export async function to(page, place, step = 'Tab') {
  await place.waitFor()
  for (let steps = 0; !(await has(place)); steps++) {
    assert.ok(steps < MOST_STEPS, `${place} is reached by ${step}`)
    await page.keyboard.press(step)
  }
}

/** The button that is called exactly so. */
export const button = (place, name) => place.getByRole('button', { name, exact: true })

/** What a machine can tell of who cannot see, or has no mouse. */
export async function accessible(page, what) {
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`)
  assert.deepEqual(told, [], what)
}

/** Nothing of it is wider than the screen. A phone's browser shows a page that is wider from further away, and calls
 * its width the window's, so the screen is what the test made it. */
export async function fits(page, what) {
  const wide = (await page.evaluate(() => document.scrollingElement.scrollWidth)) - page.viewportSize().width
  assert.ok(wide <= 0, `${what} is ${wide} px wider than the screen`)
}

/** What can be told of it on a phone and at a desk, light and dark; it is left light. */
export async function everywhere(page, what) {
  const size = page.viewportSize()
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['dark', 'light']) {
      await page.emulateMedia({ colorScheme })
      await accessible(page, `${what}, ${colorScheme}, ${viewport.width} px wide`)
    }
    await fits(page, `${what}, ${viewport.width} px wide,`)
  }
  await page.setViewportSize(size)
}

export async function calm(page) {
  assert.deepEqual(page.refused, [], 'the policy refused nothing, and nothing failed')
  assert.deepEqual(await page.evaluate(() => globalThis.violations), [])
  assert.deepEqual(page.foreign, [], 'no other host was asked')
}

/** Scrolls so that the end of something is seen: what is out of sight is not in the page. */
export const toEndOf = (place) => place.evaluate((element) => element.scrollIntoView({ block: 'end' }))

/** Leaves a picture of a page, or of a part of one, where somebody wants to look at them. */
export const shot = (what, name, fullPage = false) =>
  SHOTS ? what.screenshot({ path: `${SHOTS}/${name}.png`, ...(fullPage && { fullPage }) }) : undefined

/** Where on the screen a place of the viewport is that the live picture shows. */
export async function placeOf(page, x, y) {
  const canvas = page.locator('.screen canvas')
  await canvas.scrollIntoViewIfNeeded()
  const box = await canvas.boundingBox()
  const [width, height] = (await canvas.getAttribute('data-viewport')).split('x').map(Number)
  return [box.x + (x * box.width) / width, box.y + (y * box.height) / height]
}

/** Clicks at a place of the viewport that the live picture shows. */
export const clickAt = async (page, x, y) => page.mouse.click(...(await placeOf(page, x, y)))

/** Taps there with a finger. */
export const tapAt = async (page, x, y) => page.touchscreen.tap(...(await placeOf(page, x, y)))
