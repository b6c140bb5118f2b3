// Lists of ten thousand at the page of a node: few rows of each are in the page, and the last one is reached.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessible, baton, button, calm, DESKTOP, enter, focused, saw, tell, toEndOf, visitor } from './visitor.mjs'

const { DATA, SITE } = process.env
const TOTAL = 10_000
const all = [...Array(TOTAL).keys()]
const idOf = (index) => `0197c0de-0000-7000-8000-${String(index).padStart(12, '0')}`
const rowOf = (page, name) => page.locator('.row', { has: page.getByRole('link', { name, exact: true }) })

/** Goes to the end of a list: its last row is there, and few of all are in the page. */
async function reaches(page, list, last) {
  const shown = page.getByRole('list', { name: list, exact: true })
  await shown.scrollIntoViewIfNeeded()
  await shown.getByRole('listitem').first().waitFor()
  await toEndOf(shown)
  await shown.getByText(last, { exact: true }).first().waitFor()
  const rows = await shown.getByRole('listitem').count()
  assert.ok(rows < 80, `${rows} rows of ${list} in the page`)
}

/** A session that has one of everything, and two snapshots. */
function begins() {
  const list = join(DATA, 'list.txt')
  writeFileSync(list, 'tea, bread, plums')
  baton('open', SITE, '--name', 'shop')
  baton('sessions', 'files', 'put', 'shop', list)
  baton('sessions', 'capture', 'shop')
  baton('sessions', 'close', 'shop')
  baton('sessions', 'resume', 'shop')
}

/** A list of ten thousand, of which few are in the page. */
async function many() {
  const page = await visitor({ viewport: DESKTOP })
  const at = new Date().toISOString()
  await page.route(/\/sessions(\?|\/)/, (route) => {
    const url = new URL(route.request().url())
    if (url.pathname !== '/sessions') return route.fulfill({ status: 404, json: problem })
    const from = url.searchParams.has('after') ? Number(url.searchParams.get('after').slice(-12)) + 1 : 0
    const to = Math.min(TOTAL, from + Number(url.searchParams.get('limit')))
    const items = [...Array(to - from).keys()].map((index) => ({
      id: idOf(from + index),
      name: `s${from + index}`,
      description: '<b>bold</b>',
      state: from + index < 5_000 ? 'recoverable' : 'closed',
      owner: 'local',
      headed: false,
      created_at: at,
      updated_at: at,
    }))
    return route.fulfill({ json: { items, ...(to < TOTAL ? { next: idOf(to - 1) } : {}) } })
  })
  const problem = { type: 'urn:baton:problem:no_snapshot', title: 'none', status: 404, code: 'no_snapshot', detail: 'none' }
  await enter(page)
  const rows = () => page.locator('.row').count()
  await rowOf(page, 's0').waitFor()
  assert.ok((await rows()) < 60, `${await rows()} rows in the page`)
  await rowOf(page, 's0').getByRole('link').focus()
  await page.keyboard.press('End')
  await rowOf(page, 's4999').waitFor()
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 's4999')
  assert.ok((await rows()) < 60, `${await rows()} rows in the page`)
  await page.getByRole('searchbox').fill('s9999')
  await rowOf(page, 's9999').waitFor()
  assert.equal(await page.locator('.row b').count(), 0, 'what a session is called is text')
  await calm(page)
  await page.context().close()
  saw('ten thousand sessions')
}

/** A session of which there are ten thousand of everything: few of each are in the page, and the last one is reached. */
async function muchOfOne() {
  const page = await visitor({ viewport: DESKTOP })
  const copies = (one, of) => all.map((index) => ({ ...one, ...of(index) }))
  await enter(page)
  const link = page.getByRole('link', { name: 'shop', exact: true })
  const address = `/sessions/${(await link.getAttribute('href')).split('/').at(-1)}`
  const known = (path) =>
    page.evaluate(async (path) => {
      const headers = { 'Baton-Page': sessionStorage.getItem('baton-page') }
      return (await fetch(path, { headers })).json()
    }, path)
  const view = await known(address)
  const { items: logins } = await known(`${address}/logins`)
  const { items: files } = await known(`${address}/files`)
  const items = copies(view.receipt.items[0], (index) => ({ where: `item ${index}` }))
  const answers = {
    '': {
      ...view,
      tabs: copies(view.tabs[0], (index) => ({ active: index === 0, title: `tab ${index}` })),
      receipt: { ...view.receipt, items },
    },
    '/logins': { items: copies(logins[0], (index) => ({ domain: `site${index}.test` })) },
    '/files': { items: copies(files[0], (index) => ({ name: `file ${index}.txt` })) },
  }
  for (const [path, json] of Object.entries(answers)) await page.route(`**${address}${path}`, (route) => route.fulfill({ json }))
  // What was answered before is forgotten by it.
  await page.reload()
  await link.click()
  for (const [list, last] of [
    ['Tabs', 'tab 9999'],
    ['Logins', 'site9999.test'],
    ['Items of the receipt', 'item 9999'],
    ['Files', 'file 9999.txt'],
  ])
    await reaches(page, list, last)
  await calm(page)
  await page.context().close()
  saw('a session with ten thousand of everything')
}

/** Two snapshots, between which a cookie changed at ten thousand sites, and at one of them as many notes came. */
async function muchThatChanged() {
  const page = await visitor({ viewport: DESKTOP })
  const siteOf = (index) => `site${String(index).padStart(4, '0')}.test`
  const cookies = all.map((index) => {
    const at = siteOf(index)
    return { kind: 'cookie', where: `${at}/ sid`, site: at, change: 'changed', fields: ['value'] }
  })
  const site = siteOf(0)
  const notes = all.map((index) => ({ kind: 'local_storage', where: `https://${site}/`, entry: `note ${index}`, site, change: 'added' }))
  const diff = { a: {}, b: {}, added: TOTAL, removed: 0, changed: TOTAL, items: [...cookies, ...notes] }
  await page.route(/\/sessions\/[^/]+\/diff\?/, (route) => route.fulfill({ json: diff }))
  await enter(page)
  await page.getByRole('link', { name: 'shop', exact: true }).click()
  const shots = page.locator('.shot')
  await shots.nth(1).waitFor()
  await shots.first().click()
  await button(page, 'Compare with …').click()
  await shots.last().click()
  const both = page.getByRole('region', { name: 'What changed between the two' })
  await both.getByText('at 10,000 sites').waitFor()
  await reaches(page, 'What changed, by site and kind', siteOf(TOTAL - 1))
  await accessible(page, 'ten thousand sites that changed')

  const rows = () => both.locator('.change').count()
  await both.getByRole('searchbox').fill('site5678')
  await both.locator('.change', { hasText: siteOf(5678) }).waitFor()
  assert.equal(await rows(), 1)
  await both.getByRole('searchbox').fill('note 5678')
  await both.locator('.change', { hasText: site }).click()
  assert.equal(await rows(), 1)
  await both.locator('.names').getByText('and 9,800 more').waitFor()
  await accessible(page, 'ten thousand names of what changed')
  await calm(page)
  await page.context().close()
  saw('ten thousand sites that changed')
}

async function manySandboxes() {
  const page = await visitor({ viewport: DESKTOP })
  const at = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const one = {
    flavor: 'tools',
    owner: 'local',
    createdAt: at(-1),
    expiresAt: at(1),
    browserSession: { type: 'reference', name: 'shop', sessionId: idOf(0), writesBack: true },
    vnc: { address: '127.0.0.1:5900' },
  }
  await page.route('**/api/sandboxes', (route) => route.fulfill({ json: { items: all.map((index) => ({ ...one, id: idOf(index) })) } }))
  await enter(page)
  await page.getByRole('link', { name: 'Sandboxes', exact: true }).click()
  const first = page.getByRole('link', { name: 'shop 000000', exact: true })
  await first.waitFor()
  await reaches(page, 'Sandboxes', 'shop 009999')
  await accessible(page, 'ten thousand sandboxes')
  // By keys to both ends, whatever is in the page.
  const last = page.getByRole('link', { name: 'shop 009999', exact: true })
  await last.focus()
  await page.keyboard.press('Home')
  await focused(first)
  await page.keyboard.press('End')
  await focused(last)
  await calm(page)
  await page.context().close()
  saw('ten thousand sandboxes')
}

await tell(async () => {
  begins()
  await many()
  await muchOfOne()
  await muchThatChanged()
  await manySandboxes()
})
