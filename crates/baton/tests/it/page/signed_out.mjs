// A person who signs out: what the page had opens nothing any more, and they hear where the node does not say so.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { askTest, button, calm, DESKTOP, enter, everywhere, saw, shot, tell, visitor } from './visitor.mjs'

const { DATA } = process.env
const nodesUrl = () => JSON.parse(readFileSync(`${DATA}/node.json`, 'utf8')).url
const unconfirmed = (page, why) =>
  page.getByRole('alert').getByText(`The node did not confirm that it signed this page out: ${why}`)

/** Signs in. Where only what is behind # is another one, nothing is loaded by itself. */
async function signIn(page) {
  await page.goto('about:blank')
  await enter(page)
}

/** Presses the button; what the page showed to the node until then. */
async function signOut(page) {
  const value = await page.evaluate(() => sessionStorage.getItem('baton-page'))
  const cookies = await page.context().cookies(`http://${page.home}`)
  const cookie = cookies.find(({ name }) => name === `baton_page_${value.slice(0, 8)}`)
  await button(page, 'Sign out').click()
  await page.getByRole('heading', { name: 'Sign in to Baton' }).waitFor()
  return { 'Baton-Page': value, cookie: `${cookie.name}=${cookie.value}` }
}

const status = async (headers) => (await fetch(new URL('/sessions', nodesUrl()), { headers })).status

async function confirmed(page) {
  await signIn(page)
  const ended = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
  const shown = await signOut(page)
  assert.equal((await ended).status(), 204)
  assert.equal(await status(shown), 401)
  assert.equal(await page.getByRole('alert').count(), 0)
  saw('signed out')
}

async function unnoted(page) {
  await signIn(page)
  await askTest('take the log away')
  const shown = await signOut(page)
  await unconfirmed(page, 'page.sign_out was done, but cannot be noted').waitFor()
  await everywhere(page, 'a sign-out that is not confirmed')
  await shot(page, 'unconfirmed')
  assert.equal(await status(shown), 401, 'it ended all the same')
  await askTest('bring the log back')
  saw('signed out, though the log did not take it, which is said')
}

async function unheard(page) {
  await signIn(page)
  await askTest('stop the node')
  await page.getByText('What is shown is what was known last').waitFor()
  await button(page, 'Sign out').click()
  await unconfirmed(page, 'the node does not answer').waitFor()
  assert.equal(await page.evaluate(() => sessionStorage.length), 0)
  await askTest('start the node')
  saw('a node that did not hear of it, which is said')
}

await tell(async () => {
  const page = await visitor({ viewport: DESKTOP })
  await confirmed(page)
  await unnoted(page)
  await unheard(page)
  await calm(page)
})
