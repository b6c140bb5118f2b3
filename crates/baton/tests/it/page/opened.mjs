// A person at the page of a node opens a session by keys, gives it out, sees what becomes of its files, and deletes it.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessible, baton, calm, DESKTOP, enter, fits, PHONE, saw, shot, tell, toEndOf, visitor } from './visitor.mjs'

const { DATA, SITE } = process.env
const badge = (page, word) => page.locator('.head .badge', { hasText: word })
const dialogOf = (page) => page.getByRole('dialog', { name: 'New session' })
const focused = (page, id) => page.waitForFunction((id) => document.activeElement.id === id, id)

/** A name that is none, and the window left: nothing was opened. */
async function leaves(page) {
  await page.getByRole('button', { name: 'New session', exact: true }).focus()
  await page.keyboard.press('Enter')
  await focused(page, 'name')
  await accessible(page, 'a new session')
  await shot(page, 'new-session')
  await page.setViewportSize(PHONE)
  await fits(page, 'a new session on a phone')
  await accessible(page, 'a new session on a phone')
  await page.setViewportSize(DESKTOP)
  await page.keyboard.type('two words')
  await page.keyboard.press('Enter')
  await dialogOf(page).getByText('expected 1 to 64 letters').waitFor()
  await accessible(page, 'a name that is none')
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
  await page.waitForFunction(() => document.activeElement.textContent === 'New session')
  assert.deepEqual(JSON.parse(baton('sessions', 'list', '--json')).items, [])
  saw('left by keys, with a name that is none')
}

async function opens(page) {
  await page.keyboard.press('Enter')
  await focused(page, 'name')
  assert.equal(await dialogOf(page).getByLabel('Name').inputValue(), '', 'what was left is forgotten')
  await page.keyboard.type('till')
  await page.keyboard.press('Tab')
  await focused(page, 'url')
  await page.keyboard.type(SITE)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'till', level: 1 }).waitFor()
  await badge(page, 'Active').waitFor()
  saw('a session that was opened by keys alone')
}

async function storageState(page) {
  baton('sessions', 'capture', 'till')
  const logins = page.getByRole('region', { name: /^Signed in at/ })
  await toEndOf(logins)
  await logins.getByText('first cookie ends in').waitFor()
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await accessible(page, 'a question before an export')
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'storageState' }).click()])
  assert.equal(file.suggestedFilename(), 'till.storage-state.json')
  const { cookies, origins } = JSON.parse(readFileSync(await file.path(), 'utf8'))
  assert.equal(cookies.find((one) => one.name === 'session_id').value, '4f1c88ab20e14f0f9d')
  assert.ok(origins.some((one) => one.localStorage.some((entry) => entry.name === 'basket')))
  saw('a storageState, with the login in it')
}

/** What becomes of files elsewhere is seen here as it happens. */
async function files(page) {
  const list = join(DATA, 'list.txt')
  writeFileSync(list, 'tea, bread, plums')
  const section = page.getByRole('region', { name: /^Files/ })
  await toEndOf(section)
  await section.getByText('What its browser downloads is here').waitFor()
  baton('sessions', 'files', 'put', 'till', list)
  await section.getByRole('button', { name: 'list.txt' }).waitFor()
  baton('sessions', 'files', 'remove', 'till', 'list.txt')
  await section.getByText('What its browser downloads is here').waitFor()
  assert.equal(await section.getByRole('button', { name: 'list.txt' }).count(), 0)
  saw('a file that was put elsewhere, and removed there')
}

/** A history of ten thousand, of which few are in the page. */
async function longHistory() {
  const page = await visitor({ viewport: DESKTOP })
  const total = 10_000
  const id = (index) => `0197c0de-0000-7000-8000-${String(index).padStart(12, '0')}`
  const one = { taken_at: new Date().toISOString(), reason: 'interval', parts: 3, bytes: 4096 }
  const problem = { type: 'urn:baton:problem:no_snapshot', title: 'none', status: 404, code: 'no_snapshot', detail: 'none' }
  await page.route(/\/sessions\/[^/]+\/(history|preview)\b/, (route) => {
    const url = new URL(route.request().url())
    if (!url.pathname.endsWith('/history')) return route.fulfill({ status: 404, json: problem })
    const from = url.searchParams.has('after') ? Number(url.searchParams.get('after').slice(-12)) + 1 : 0
    const to = Math.min(total, from + Number(url.searchParams.get('limit')))
    const items = [...Array(to - from).keys()].map((index) => ({ ...one, id: id(from + index) }))
    return route.fulfill({ json: { items, resumes_from: id(0), ...(to < total ? { next: id(to - 1) } : {}) } })
  })
  await enter(page)
  await page.getByRole('link', { name: 'till', exact: true }).click()
  const strip = page.getByRole('list', { name: 'Snapshots, newest first' })
  const shots = strip.locator('.shot')
  const few = async () => assert.ok((await shots.count()) < 60, `${await shots.count()} snapshots in the page`)
  await shots.first().waitFor()
  assert.equal(await strip.locator('li').first().getAttribute('aria-setsize'), String(total))
  await few()
  await shots.first().focus()
  await page.keyboard.press('End')
  await page.waitForFunction((last) => document.activeElement.closest('li')?.dataset.index === last, String(total - 1))
  await few()
  await calm(page)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
  saw('ten thousand snapshots of one session')
}

async function deletes(page) {
  baton('sessions', 'close', 'till')
  await badge(page, 'Closed').waitFor()
  const asks = page.getByRole('button', { name: 'Delete', exact: true })
  const dialog = page.getByRole('dialog', { name: 'Delete till?' })
  await asks.click()
  await accessible(page, 'a question before a deletion')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await asks.click()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.locator('.notice', { hasText: 'till: deleted' }).waitFor()
  await page.getByRole('heading', { name: 'No session yet' }).waitFor()
  assert.deepEqual(JSON.parse(baton('sessions', 'list', '--json')).items, [])
  saw('a session that is deleted')
}

await tell(async () => {
  const page = await visitor({ viewport: DESKTOP })
  await enter(page)
  await leaves(page)
  await opens(page)
  await storageState(page)
  await files(page)
  await longHistory()
  await deletes(page)
  await calm(page)
})
