// A person with a keyboard alone: signs in with a key that they paste, resumes, captures and closes a session in the list
// and in its own view, brings it back as it was, takes its browser over, exports it, puts a file among its files,
// imports another session from a file, and signs out.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { baton, button, calm, DESKTOP, focused, has, saw, tell, to, visitor } from './visitor.mjs'

const { SITE } = process.env
const SCOPES = ['read', 'drive', 'watch', 'reveal']

const heading = (page, name) => page.getByRole('heading', { name, level: 1 })

async function signsIn(page) {
  const key = baton('keys', 'create', '--name', 'keys', ...SCOPES.flatMap((scope) => ['--scope', scope]))
  const url = new URL(baton('dashboard', '--print'))
  page.home = url.host
  await page.goto(url.origin)
  const field = page.getByLabel('Or paste an API key')
  await to(page, field)
  await page.keyboard.insertText('baton_none')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  await focused(heading(page, 'Sign in to Baton'))
  await to(page, field)
  await page.keyboard.insertText(key.split(/\s+/).find((word) => word.startsWith('baton_')))
  await page.keyboard.press('Enter')
  await focused(heading(page, 'Sessions'))
  saw('signed in with a key that was pasted, after one that is none')
}

/** Presses a button that has the focus. It keeps that while the node has not answered yet, and asks for nothing twice. */
async function presses(page, place, verb) {
  const address = `**/${verb}`
  const asked = []
  let wake
  const first = new Promise((done) => (wake = done))
  await page.route(address, (route) => wake(asked.push(route)))
  await page.keyboard.press('Enter')
  await first
  await place.and(page.locator('[aria-disabled=true]')).waitFor()
  assert.ok(await has(place), `${verb} keeps the focus while it goes on`)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Space')
  assert.ok(await has(place))
  assert.equal(asked.length, 1)
  await asked[0].continue()
  await page.unroute(address)
}

const said = (page, words) => page.locator('.notice', { hasText: words }).waitFor()

/** In the list, where a session that was closed or resumed is in another part afterwards. */
async function inTheList(page) {
  const name = page.getByRole('link', { name: 'shop', exact: true })
  const among = (part) => page.getByRole('region', { name: part }).locator(name)
  await among(/^Closed/).waitFor()
  await to(page, button(page, 'Resume shop'))
  await presses(page, button(page, 'Resume shop'), 'resume')
  await among(/^Active/).waitFor()
  await focused(name)
  saw('resumed in the list, with the focus at its name')

  await to(page, button(page, 'Capture shop'))
  await presses(page, button(page, 'Capture shop'), 'capture')
  await said(page, 'shop: captured')
  await button(page, 'Capture shop').and(page.locator('[aria-disabled=false]')).waitFor()
  assert.ok(await has(button(page, 'Capture shop')))
  saw('captured in the list, with the focus where it was')

  await to(page, button(page, 'Close shop'))
  await presses(page, button(page, 'Close shop'), 'close')
  await among(/^Closed/).waitFor()
  await focused(name)
  saw('closed in the list, with the focus at its name')
}

/** In its own view, where the buttons are others then. */
async function inItsView(page) {
  const acts = page.locator('.head .acts')
  await to(page, button(acts, 'Capture'), 'Shift+Tab')
  await presses(page, button(acts, 'Capture'), 'capture')
  const result = page.getByRole('status').filter({ hasText: 'Capture: captured' })
  await result.waitFor()
  assert.ok(await has(button(acts, 'Capture')))
  await to(page, button(result, 'Dismiss'))
  await page.keyboard.press('Enter')
  await result.waitFor({ state: 'detached' })
  await focused(heading(page, /^shop/))
  saw('captured, and what came of it put away, with the focus at the name of the session')

  await to(page, button(acts, 'Close'))
  await presses(page, button(acts, 'Close'), 'close')
  await focused(button(acts, 'Resume'))
  assert.equal(await button(acts, 'Close').count(), 0)
  saw('closed, with the focus at what resumes it')

  await presses(page, button(acts, 'Resume'), 'resume')
  await page.getByRole('heading', { name: /^Resume: back/ }).waitFor()
  await focused(button(acts, 'Capture'))
  assert.equal(await button(acts, 'Resume').count(), 0)
  saw('resumed, with the focus at what captures it')
}

async function opens(page) {
  await to(page, page.getByRole('link', { name: 'shop', exact: true }))
  await page.keyboard.press('Enter')
  await focused(heading(page, 'shop'))
  saw('a session, with the focus at its name')
}

async function rollsBack(page) {
  const shots = page.locator('.shot')
  await shots.nth(1).waitFor()
  const last = (await page.locator('.strip li').first().getAttribute('aria-setsize')) - 1
  await to(page, page.locator('.strip li[data-index="0"] .shot'))
  for (let at = 1; at <= last; at++) {
    await page.keyboard.press('ArrowRight')
    await focused(page.locator(`.strip li[data-index="${at}"] .shot`))
  }
  await page.keyboard.press('Enter')
  const asks = button(page, 'Roll back to this')
  const dialog = page.getByRole('dialog', { name: 'Roll shop back?' })
  await to(page, asks)
  await page.keyboard.press('Enter')
  await focused(button(dialog, 'Cancel'))
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await focused(asks)
  await page.keyboard.press('Enter')
  await focused(button(dialog, 'Cancel'))
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await focused(asks)
  saw('a question that is left by Escape, or by its button, and leads back to where it was asked')

  await page.keyboard.press('Enter')
  await to(page, button(dialog, 'Roll back'))
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await focused(asks)
  await page.getByRole('heading', { name: /^Roll back: back/ }).waitFor()
  assert.ok(await has(asks), 'the focus is where it was asked, while it goes on and afterwards')
  saw('rolled back to the first picture of the history')
}

async function takesOver(page) {
  const live = page.getByRole('region', { name: 'Live', exact: true })
  await to(page, button(live, 'Watch'))
  await page.keyboard.press('Enter')
  await focused(live.getByLabel('as', { exact: true }))
  await live.locator('canvas[data-picture]').waitFor()
  await to(page, button(live, 'Take over'))
  await page.keyboard.press('Enter')
  await page.getByText('You drive as keys').waitFor()
  await focused(page.locator('textarea.keys'))
  saw('the picture taken over, with the focus in it')

  const front = (title) => live.locator('.tab[aria-current=true]', { hasText: title }).waitFor()
  await page.keyboard.press('F6')
  await focused(button(live, 'Give back'))
  await to(page, live.getByLabel('Address', { exact: true }))
  await page.keyboard.insertText(`${SITE}?anew`)
  await page.keyboard.press('Enter')
  await front('The till, anew')
  await to(page, page.locator('textarea.keys'))
  saw('out of the picture, to the address, and back')

  // To the field of the page in the picture, and not out of it.
  await page.keyboard.press('Tab')
  await front('At the field')
  await page.keyboard.type('plums')
  await front('Has plums.')
  await page.keyboard.press('F6')
  await focused(button(live, 'Give back'))
  await page.keyboard.press('Enter')
  await page.getByText('You watch. Nobody has said').waitFor()
  assert.ok(await has(button(live, 'Take over')))
  await to(page, button(live, 'Stop watching'))
  await page.keyboard.press('Enter')
  await focused(button(live, 'Watch'))
  saw('a word written there, and given back')
}

async function exports(page) {
  const asks = button(page.locator('.head .acts'), 'Export')
  const dialog = page.getByRole('dialog', { name: 'Export shop' })
  await to(page, asks, 'Shift+Tab')
  await page.keyboard.press('Enter')
  await focused(button(dialog, 'Cancel'))
  await to(page, button(dialog, 'Session file'))
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
  const file = JSON.parse(readFileSync(await download.path(), 'utf8'))
  assert.equal(file.name, 'shop')
  await focused(asks)
  saw('exported, with the focus where it was asked')
  return file
}

/** Opens the chooser of a place that has the focus, and chooses a file in it. */
async function chooses(page, place, name, text) {
  // A chooser is caught by the page's process, and a key may reach that first: it answers what comes after.
  const chosen = page.waitForEvent('filechooser')
  assert.ok(await has(place))
  await page.keyboard.press('Enter')
  await (await chosen).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
}

async function files(page) {
  const section = page.getByRole('region', { name: /^Files/ })
  const puts = section.getByLabel('Add a file')
  await to(page, puts)
  await chooses(page, puts, 'note.txt', 'hello')
  const file = button(section, 'note.txt')
  await file.waitFor()
  await focused(puts)
  await to(page, file, 'Shift+Tab')
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
  assert.equal(readFileSync(await download.path(), 'utf8'), 'hello')
  await focused(file)
  saw('a file put, and fetched')

  // The page removes none: who does that does it elsewhere, and it is seen here.
  baton('sessions', 'files', 'remove', 'shop', 'note.txt')
  await file.waitFor({ state: 'detached' })
  await to(page, puts)
  saw('a file that was removed elsewhere')
}

/** A file that was exported, as a session of another name. */
async function imports(page, file) {
  await to(page, page.getByRole('link', { name: '← Sessions', exact: true }), 'Shift+Tab')
  await page.keyboard.press('Enter')
  await focused(heading(page, 'Sessions'))
  const puts = page.getByLabel('Import a file')
  await to(page, puts)
  await chooses(page, puts, 'copy.json', JSON.stringify({ ...file, name: 'copy' }))
  await said(page, 'copy is here, recoverable')
  await page.locator('.head .badge', { hasText: 'Recoverable' }).waitFor()
  await focused(heading(page, /^copy/))
  saw('imported under another name, with the focus at it')
}

async function signsOut(page) {
  await to(page, button(page, 'Sign out'), 'Shift+Tab')
  await page.keyboard.press('Enter')
  await focused(heading(page, 'Sign in to Baton'))
  await to(page, page.getByLabel('Or paste an API key'))
  saw('signed out, and at the key again')
}

await tell(async () => {
  // Two pictures of it, to choose from.
  baton('sessions', 'capture', 'shop')
  baton('sessions', 'close', 'shop')
  const page = await visitor({ viewport: DESKTOP })
  await signsIn(page)
  await inTheList(page)
  await opens(page)
  await rollsBack(page)
  await inItsView(page)
  await takesOver(page)
  const file = await exports(page)
  await files(page)
  await imports(page, file)
  await signsOut(page)
  await calm(page)
})
