// A person whose browser is led to somebody else's page: it asks first, and nothing that they have is lost by it.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { baton, button, calm, DESKTOP, enter, everywhere, saw, shot, tell, visitor } from './visitor.mjs'

const { DATA } = process.env
const made = baton('keys', 'create', '--name', 'lure', '--owner', 'mallory', '--scope', 'read')
const key = made.split(/\s+/).find((word) => word.startsWith('baton_'))

/** An address that signs in as Mallory. */
async function hers() {
  const { url } = JSON.parse(readFileSync(`${DATA}/node.json`, 'utf8'))
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(new URL('/page/tickets', url), { method: 'POST', headers })
  assert.equal(answer.status, 200)
  return (await answer.json()).url
}

/** Loads an address: where only what is behind # is another one, nothing is loaded by itself. */
async function open(page, url) {
  await page.goto('about:blank')
  await page.goto(url)
}

const as = (page, owner) => page.locator('.owner', { hasText: `${owner} by` }).waitFor()
const question = (page) => page.getByRole('heading', { name: 'Sign in as mallory?', level: 1 })

/** Does not want to be her: what she was given is signed out. */
async function cancel(page) {
  const ended = page.waitForResponse((answer) => answer.request().method() === 'DELETE' && answer.url().endsWith('/page/session'))
  await button(page, 'Cancel').click()
  assert.equal((await ended).status(), 204)
}

async function nobody() {
  const page = await visitor({ viewport: DESKTOP })
  await page.goto(await hers())
  await as(page, 'mallory')
  await page.context().close()
  saw('in at once where nobody was, and it says as whom')
}

async function newTab(page) {
  const tab = await page.context().newPage()
  await tab.goto(await hers())
  await question(tab).waitFor()
  await tab.getByText('Here it was local until now').waitFor()
  await everywhere(tab, 'a question as whom to sign in')
  await shot(tab, 'as-whom')
  await cancel(tab)
  await tab.getByRole('heading', { name: 'Sign in to Baton' }).waitFor()
  await tab.close()
  saw('asked in a new tab of a browser in which somebody else is')
}

async function sameTab(page) {
  await open(page, await hers())
  await question(page).waitFor()
  assert.equal(await page.getByRole('heading', { name: 'Sessions', level: 1 }).count(), 0)
  await cancel(page)
  await as(page, 'local')
  await open(page, await hers())
  await question(page).waitFor()
  await page.reload()
  await as(page, 'local')
  saw('asked where somebody else is signed in, who stays so')
  await open(page, `http://${page.home}/#code=${'A'.repeat(43)}`)
  await page.locator('.notice .failed', { hasText: 'found one that does not count' }).waitFor()
  await as(page, 'local')
  saw('an address that does not count ends nothing')
  await page.goto('about:blank')
  await enter(page)
  await as(page, 'local')
  saw('another address of the same owner, in at once')
}

async function wanted(page) {
  await open(page, await hers())
  await button(page, 'Sign in as mallory').click()
  await as(page, 'mallory')
  await button(page, 'Sign out').click()
  await page.getByRole('heading', { name: 'Sign in to Baton' }).waitFor()
  await page.goto('about:blank')
  await enter(page)
  await as(page, 'local')
  saw('somebody else who is wanted, and nobody asked after a sign-out')
}

await tell(async () => {
  await nobody()
  const page = await visitor({ viewport: DESKTOP })
  await enter(page)
  await newTab(page)
  await sameTab(page)
  await wanted(page)
  await calm(page)
})
