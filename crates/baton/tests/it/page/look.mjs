// A person who looks into what the tabs of a session do.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import {
  accessible,
  askTest,
  baton,
  button,
  calm,
  DESKTOP,
  enter,
  enterWithKey,
  fits,
  focused,
  hide,
  PHONE,
  saw,
  shot,
  tell,
  to,
  toEndOf,
  visitor,
} from './visitor.mjs'

const { SITE } = process.env
const SECRET = 'geheim'

const section = (page) => page.getByRole('region', { name: 'Network and console' })
const requests = (page) => page.getByRole('list', { name: 'Requests' })
const lines = (page) => page.getByRole('list', { name: 'Lines of the console' })
const tabOf = (page) => page.getByRole('combobox', { name: 'Tab of the browser' })
const live = (page) => section(page).getByText('Live: what comes').waitFor()
const numberOf = async (page, name) => Number((await page.getByRole('tab', { name }).locator('.number').textContent()).replaceAll(',', ''))

/** Waits until more has come than was there. A node that starts anew knows nothing of what came before. */
async function more(page, name) {
  const until = Date.now() + 60_000
  let before = await numberOf(page, name)
  for (;;) {
    const now = await numberOf(page, name)
    if (now > before) return
    before = now
    assert.ok(Date.now() < until, `more comes to ${name}`)
    await page.waitForFunction(() => new Promise((done) => requestAnimationFrame(() => done(true))))
  }
}

async function toSession(page) {
  await page.getByRole('link', { name: 'stall', exact: true }).click()
  await page.getByRole('heading', { name: 'stall', level: 1 }).waitFor()
}

async function withoutScope() {
  const page = await visitor({ viewport: PHONE })
  await enterWithKey(page, 'reader', 'read')
  await toSession(page)
  await section(page).getByText('Looking in wants the scope debug').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Look in' }).count(), 0)
  await fits(page, 'what a key may not')
  await accessible(page, 'what a key may not')
  await calm(page)
  await page.context().close()
  saw('a key that may not look')
}

async function looksIn(page) {
  await toSession(page)
  await section(page).getByRole('button', { name: 'Record from now on' }).click()
  await section(page).getByRole('button', { name: 'Look in' }).click()
  await live(page)
  await toEndOf(section(page))
  await tabOf(page).selectOption({ label: `The stall – ${SITE}` })
  await live(page)
  await requests(page).getByRole('button', { name: /\/stock/ }).first().waitFor()
  await more(page, 'Network')
  await requests(page).locator('.request.bad', { hasText: '/sold-out' }).first().waitFor()
  saw('recorded from now on, and requests as they come')
}

async function oneRequest(page) {
  await page.getByRole('searchbox', { name: 'Filter requests' }).fill('/stock')
  // Of the first ones the beginning may have been missed, and with it what was answered.
  const key = await requests(page).locator('.request.good').nth(2).getAttribute('data-key')
  const row = requests(page).locator(`.request[data-key="${key}"]`)
  // Nothing that comes meanwhile leads it out of sight.
  await page.getByRole('searchbox', { name: 'Filter requests' }).fill(await row.getAttribute('title'))
  await row.focus()
  await page.keyboard.press('Enter')
  const pane = page.getByRole('region', { name: 'The chosen request' })
  await pane.getByText('tea, bread, plums').waitFor()
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'The chosen request')
  await pane.locator('dl > div', { hasText: /authorization/i }).first().getByText('[redacted]').waitFor()
  assert.ok(!(await page.content()).includes(SECRET), 'what is hidden stays hidden')
  await accessible(page, 'requests')
  await fits(page, 'requests')
  await page.locator('.notice p').waitFor({ state: 'detached' })
  await shot(section(page), 'network-desktop-light')
  await page.emulateMedia({ colorScheme: 'dark' })
  await accessible(page, 'requests, dark')
  await shot(section(page), 'network-desktop-dark')
  await page.setViewportSize(PHONE)
  await fits(page, 'requests on a phone')
  await accessible(page, 'requests on a phone')
  await shot(section(page), 'network-phone-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(DESKTOP)
  await pane.focus()
  await page.keyboard.press('Escape')
  await pane.waitFor({ state: 'detached' })
  assert.equal(await page.evaluate(() => document.activeElement.dataset.key), key, 'back at its row')
  await page.getByRole('searchbox', { name: 'Filter requests' }).fill('')
  await page.getByLabel('Failed only').check()
  await requests(page).getByRole('button', { name: /sold-out/ }).first().waitFor()
  assert.equal(await requests(page).getByRole('button', { name: /stock/ }).count(), 0)
  await page.getByLabel('Failed only').uncheck()
  saw('all of one request but its secrets, and back by a key')
}

async function readsLines(page) {
  await page.getByRole('tab', { name: 'Network' }).focus()
  await page.keyboard.press('ArrowRight')
  assert.equal(await page.evaluate(() => document.activeElement.id), 'to-console')
  await lines(page).getByRole('button', { name: /number/ }).first().waitFor()
  await more(page, 'Console')
  await page.getByLabel('From which level on').selectOption('warn')
  await lines(page).getByText('<b>plums</b>').first().waitFor()
  assert.equal(await lines(page).getByText(/^number/).count(), 0)
  await page.getByRole('searchbox', { name: 'Filter the console' }).fill('plums')
  await lines(page).getByRole('button', { name: /plums/ }).first().click()
  const pane = page.getByRole('region', { name: 'The chosen line' })
  await pane.getByText('are left').waitFor()
  assert.equal(await page.locator('.look b').count(), 0, 'what a page writes is text')
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme })
    await accessible(page, `the console, ${scheme}`)
    await shot(section(page), `console-desktop-${scheme}`)
  }
  await page.setViewportSize(PHONE)
  await fits(page, 'the console on a phone')
  await accessible(page, 'the console on a phone')
  await shot(section(page), 'console-phone-dark')
  await page.setViewportSize(DESKTOP)
  await page.emulateMedia({ colorScheme: 'light' })
  await pane.getByRole('button', { name: 'Close' }).click()
  saw('lines of the console, from a level on')
}

async function otherTab(page) {
  await tabOf(page).selectOption({ label: `The back room – ${SITE}back` })
  await live(page)
  assert.equal(await lines(page).getByRole('button', { name: /number/ }).count(), 0)
  await tabOf(page).selectOption({ label: `The stall – ${SITE}` })
  await lines(page).getByRole('button', { name: /number/ }).first().waitFor()
  saw('another tab, and back')
}

async function archive(page) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download HAR' }).click()])
  assert.equal(download.suggestedFilename(), 'stall.har')
  const text = readFileSync(await download.path(), 'utf8')
  assert.ok(JSON.parse(text).log.entries.some(({ request }) => request.url.includes('/stock')))
  assert.ok(!text.includes(SECRET))
  saw('an archive without secrets')
}

/** Nobody looks: what is open ends, and nothing is asked. */
async function unseen(page) {
  const open = new Set()
  const asked = []
  const isLook = (request) => request.url().includes('/debug/tabs')
  const begins = (request) => {
    if (!isLook(request)) return
    asked.push(request.url())
    open.add(request)
  }
  const ends = (request) => open.delete(request)
  page.on('request', begins).on('requestfailed', ends).on('requestfinished', ends)
  const silent = async (what) => {
    for (let tries = 0; open.size > 0; tries++) {
      assert.ok(tries < 200, `${open.size} requests are open: ${what}`)
      await page.waitForFunction(() => new Promise((done) => setTimeout(() => done(true), 20)))
    }
    asked.length = 0
    // The site goes on meanwhile: something would come.
    const since = await numberOfStock()
    // A command stands in the way of what this process is told: it hears of requests in between.
    do await page.evaluate(() => 0)
    while ((await numberOfStock()) < since + 3)
    await page.evaluate(() => 0)
    assert.deepEqual(asked, [], what)
  }
  const numberOfStock = async () => {
    const shown = baton('debug', 'list-tabs', '--json')
    const token = JSON.parse(shown).items.find(({ title }) => title === 'The stall').token
    return JSON.parse(baton('debug', 'network', token, '--json')).requests.length
  }
  await more(page, 'Console')
  await hide(page, true)
  await silent('a page that is hidden')
  await hide(page, false)
  await live(page)
  await more(page, 'Console')
  await page.getByRole('button', { name: 'Stop looking' }).click()
  await silent('nobody looks in')
  await section(page).getByRole('button', { name: 'Look in' }).click()
  await live(page)
  await page.getByRole('link', { name: '← Sessions' }).click()
  await page.getByRole('heading', { name: 'Sessions', exact: true, level: 1 }).waitFor()
  await silent('another view')
  page.off('request', begins).off('requestfailed', ends).off('requestfinished', ends)
  saw('silence while nobody looks')
}

async function restart(page) {
  await toSession(page)
  await section(page).getByRole('button', { name: 'Look in' }).click()
  await live(page)
  await tabOf(page).selectOption({ label: `The stall – ${SITE}` })
  await more(page, 'Network')
  await askTest('stop the node')
  await page.getByText('What is shown is what was known last').waitFor()
  await askTest('start the node')
  await page.getByText('What is shown is what was known last').waitFor({ state: 'detached' })
  await live(page)
  await more(page, 'Network')
  saw('a node that restarts, and what comes goes on')
}

/** Goes through what a select offers by an arrow, until that is chosen. */
async function chooses(page, select, label, step) {
  await to(page, select, step)
  await page.keyboard.press('Home')
  const chosen = () => select.evaluate((list) => list.selectedOptions[0].textContent)
  for (let steps = 0; (await chosen()) !== label; steps++) {
    assert.ok(steps < 10, `${label} is reached by an arrow`)
    await page.keyboard.press('ArrowDown')
  }
}

async function empties(page, field, step) {
  await to(page, field, step)
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Delete')
}

/** Puts a text in the place of that in a field. */
async function types(page, field, text, step) {
  await empties(page, field, step)
  await page.keyboard.insertText(text)
}

/** A request is found, read and left; then those that failed are. */
async function requestByKeys(page) {
  const filter = page.getByRole('searchbox', { name: 'Filter requests' })
  await types(page, filter, '/stock')
  // Of the first ones the beginning may have been missed, and with it what was answered.
  const good = requests(page).locator('.request.good', { hasText: '/stock' })
  const [key, address] = await good.nth(2).evaluate(({ dataset, title }) => [dataset.key, title])
  await types(page, filter, address)
  const row = requests(page).locator(`.request[data-key="${key}"]`)
  const pane = page.getByRole('region', { name: 'The chosen request' })
  await to(page, row)
  await page.keyboard.press('Enter')
  await focused(pane)
  const body = pane.locator('details', { hasText: 'tea, bread, plums' })
  await to(page, body.locator('summary'))
  await page.keyboard.press('Enter')
  await body.and(page.locator(':not([open])')).waitFor()
  await page.keyboard.press('Enter')
  await body.and(page.locator('[open]')).waitFor()
  await page.keyboard.press('Escape')
  await focused(row)
  await page.keyboard.press('Enter')
  await focused(pane)
  await to(page, button(pane, 'Close'))
  await page.keyboard.press('Enter')
  await focused(row)
  await pane.waitFor({ state: 'detached' })

  await empties(page, filter, 'Shift+Tab')
  await to(page, page.getByLabel('Failed only'))
  await page.keyboard.press('Space')
  await page.waitForFunction(() => document.querySelector('.request.bad') !== null && document.querySelector('.request.good') === null)
  await page.keyboard.press('Space')
  await requests(page).locator('.request.good').first().waitFor()
  saw('a request that is found, read and left by keys alone')
}

/** A line is found, read and left. */
async function lineByKeys(page) {
  await to(page, page.getByRole('tab', { name: 'Network' }), 'Shift+Tab')
  await page.keyboard.press('ArrowRight')
  await focused(page.getByRole('tab', { name: 'Console' }))
  await chooses(page, page.getByLabel('From which level on'), 'Warnings and errors')
  await page.waitForFunction(() => document.querySelector('.told.warn') !== null && document.querySelector('.told.log') === null)
  const words = await lines(page).locator('.told.warn .text').first().textContent()
  await types(page, page.getByRole('searchbox', { name: 'Filter the console' }), words, 'Shift+Tab')
  const line = lines(page).getByRole('button', { name: words })
  await to(page, line)
  await page.keyboard.press('Enter')
  const pane = page.getByRole('region', { name: 'The chosen line' })
  await focused(pane)
  await pane.getByText(words, { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await focused(line)
  await pane.waitFor({ state: 'detached' })
  saw('and a line of the console')
}

/** Without a mouse, from the list of sessions in and out again. */
async function byKeys() {
  const page = await visitor({ viewport: DESKTOP })
  await enter(page)
  await to(page, page.getByRole('link', { name: 'stall', exact: true }))
  await page.keyboard.press('Enter')
  await focused(page.getByRole('heading', { name: 'stall', level: 1 }))
  await to(page, button(section(page), 'Look in'))
  await page.keyboard.press('Enter')
  await live(page)
  const stops = button(section(page), 'Stop looking')
  await focused(stops)
  await chooses(page, tabOf(page), `The stall – ${SITE}`, 'Shift+Tab')
  await live(page)
  await requestByKeys(page)
  await lineByKeys(page)
  await to(page, stops, 'Shift+Tab')
  await page.keyboard.press('Enter')
  await focused(button(section(page), 'Look in'))
  await calm(page)
  await page.context().close()
  saw('out again, with the focus at what leads in')
}

/** Ten thousand lines of the console, of which few are in the page. */
async function manyLines(page) {
  await page.getByRole('tab', { name: 'Console' }).click()
  const line = (index) => lines(page).getByRole('button', { name: `line <b>${index}</b>` })
  const rows = () => lines(page).getByRole('listitem').count()
  const few = async () => assert.ok((await rows()) < 80, `${await rows()} rows in the page`)
  await section(page).getByText('Only the latest lines are shown').waitFor()
  await line(9999).waitFor()
  await few()
  await line(9999).focus()
  await page.keyboard.press('Home')
  await focused(line(0))
  await few()
  await page.keyboard.press('End')
  await focused(line(9999))
  const filter = page.getByRole('searchbox', { name: 'Filter the console' })
  await filter.fill('<b>5678<')
  await line(5678).waitFor()
  assert.equal(await rows(), 1)
  await filter.fill('')
  await page.getByLabel('From which level on').selectOption('error')
  await page.waitForFunction(() => document.querySelector('.told.error') !== null && document.querySelector('.told.log') === null)
  await lines(page).getByRole('button').first().focus()
  await page.keyboard.press('Home')
  await line(99).waitFor()
  await few()
  assert.equal(await page.locator('.told b').count(), 0, 'what a page writes is text')
  await accessible(page, 'ten thousand lines')
  saw('ten thousand lines of the console')
}

/** Ten thousand requests and lines, of which few are in the page; and a tab that is gone. */
async function many() {
  const page = await visitor({ viewport: DESKTOP })
  const total = 10_000
  const request = (index) => ({
    number: index + 1,
    seq: index + 1,
    request_id: `r${index}`,
    method: 'GET',
    url: `https://many.test/<b>${index}</b>`,
    timestamp: 1_700_000_000_000 + index,
    status: index % 100 === 99 ? 500 : 200,
    ended: true,
    resource_type: 'fetch',
    duration_ms: index,
    transfer_size: index * 10,
  })
  const line = (index) => ({
    seq: index + 1,
    level: index % 100 === 99 ? 'error' : 'log',
    message: `line <b>${index}</b>`,
    timestamp: 1_700_000_000_000 + index,
    source: 'https://many.test/till.js',
    line: 1,
    column: 1,
  })
  const all = [...Array(total).keys()]
  let isGone = false
  await page.route(/\/debug\/tabs/, async (route) => {
    const path = new URL(route.request().url()).pathname
    const gone = { code: 'tab_gone', title: 'Gone', status: 404, detail: 'expected a tab, found none' }
    if (isGone && path !== '/debug/tabs') return route.fulfill({ status: 404, json: gone })
    if (isGone) return route.fulfill({ json: { items: [] } })
    if (path === '/debug/tabs') return route.continue()
    // What comes later does not come.
    const { after } = route.request().postDataJSON()
    if (after !== undefined) return
    if (path.endsWith('/console')) return route.fulfill({ json: { entries: all.map(line), cursor: total, older: 1 } })
    return route.fulfill({ json: { requests: all.map(request), cursor: total, older: 1 } })
  })
  await enter(page)
  await toSession(page)
  await section(page).getByRole('button', { name: 'Look in' }).click()
  await page.getByRole('tab', { name: /Network\s*10,000/ }).waitFor()
  await toEndOf(section(page))
  await page.locator('.request', { hasText: '/<b>9999</b>' }).waitFor()
  await section(page).getByText('Only the latest requests are shown').waitFor()
  const rows = () => page.locator('.request').count()
  assert.ok((await rows()) < 80, `${await rows()} rows in the page`)
  await page.locator('.request', { hasText: '/<b>9999</b>' }).focus()
  await page.keyboard.press('Home')
  await page.waitForFunction(() => document.activeElement.dataset.key === '1')
  assert.ok((await rows()) < 80, `${await rows()} rows in the page`)
  await page.getByRole('searchbox', { name: 'Filter requests' }).fill('5678')
  await page.locator('.request', { hasText: '/<b>5678</b>' }).waitFor()
  assert.equal(await rows(), 1)
  await page.getByRole('searchbox', { name: 'Filter requests' }).fill('')
  await page.getByLabel('Failed only').check()
  // Where a list that was at its end goes on is another story.
  await page.waitForFunction(() => document.querySelector('.request.bad') !== null && document.querySelector('.request.good') === null)
  await page.locator('.request.bad').first().focus()
  await page.keyboard.press('Home')
  await page.locator('.request', { hasText: '/<b>99</b>' }).waitFor()
  await accessible(page, 'ten thousand requests')
  await shot(page, 'network-many')
  saw('ten thousand requests')
  await manyLines(page)
  await page.getByRole('tab', { name: 'Network' }).click()

  isGone = true
  await hide(page, true)
  await hide(page, false)
  await section(page).getByText('This tab is gone').waitFor()
  assert.ok((await rows()) > 0, 'what it told is kept')
  await accessible(page, 'a tab that is gone')
  await calm(page)
  await page.context().close()
  saw('a tab that is gone')
}

await tell(async () => {
  baton('open', SITE, `${SITE}back`, '--name', 'stall')
  await withoutScope()
  const page = await visitor({ viewport: DESKTOP })
  await enter(page)
  await looksIn(page)
  await oneRequest(page)
  await readsLines(page)
  await otherTab(page)
  await archive(page)
  await unseen(page)
  await restart(page)
  page.foreign.splice(0)
  await calm(page)
  await byKeys()
  await many()
})
