// A person with a keyboard alone: signs in with a key that they paste, brings a session back as it was, puts a file
// among its files, and signs out.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { baton, browser, calm, DESKTOP, saw, visitor } from './visitor.mjs'

/** How many steps may lead from one place to another. */
const MOST_STEPS = 60

/** Waits until an element has the focus, which the node may have to answer for. */
const focused = (place) =>
  place.evaluate(
    (element) =>
      new Promise((done) => {
        if (document.activeElement === element) done()
        else element.addEventListener('focus', () => done(), { once: true })
      }),
  )

const has = (place) => place.evaluate((element) => document.activeElement === element)

/** Goes to an element step by step. */
async function to(page, place, step = 'Tab') {
  await place.waitFor()
  for (let steps = 0; !(await has(place)); steps++) {
    assert.ok(steps < MOST_STEPS, `${place} is reached by ${step}`)
    await page.keyboard.press(step)
  }
}

const button = (place, name) => place.getByRole('button', { name, exact: true })

async function signsIn(page) {
  const key = baton('keys', 'create', '--name', 'keys', '--scope', 'read', '--scope', 'drive')
  const url = new URL(baton('dashboard', '--print'))
  page.home = url.host
  await page.goto(url.origin)
  const field = page.getByLabel('Or paste an API key')
  await to(page, field)
  await page.keyboard.insertText(key.split(/\s+/).find((word) => word.startsWith('baton_')))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
  saw('signed in with a key that was pasted')
}

async function opens(page) {
  await to(page, page.getByRole('link', { name: 'shop', exact: true }))
  await page.keyboard.press('Enter')
  await focused(page.getByRole('heading', { name: 'shop', level: 1 }))
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

async function files(page) {
  const section = page.getByRole('region', { name: /^Files/ })
  const puts = section.getByLabel('Add a file')
  await to(page, puts)
  // A chooser is caught by the page's process, and a key may reach that first: it answers what comes after.
  const chosen = page.waitForEvent('filechooser')
  await has(puts)
  await page.keyboard.press('Enter')
  await (await chosen).setFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') })
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

async function signsOut(page) {
  await to(page, button(page, 'Sign out'), 'Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sign in to Baton' }).waitFor()
  await to(page, page.getByLabel('Or paste an API key'))
  saw('signed out, and at the key again')
}

try {
  // Two pictures of it, to choose from.
  baton('sessions', 'capture', 'shop')
  baton('sessions', 'close', 'shop')
  const page = await visitor({ viewport: DESKTOP })
  await signsIn(page)
  await opens(page)
  await rollsBack(page)
  await files(page)
  await signsOut(page)
  await calm(page)
} finally {
  await browser.close()
}
process.exit(0)
