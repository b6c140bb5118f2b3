// A person who signs in at a provider, and others who try.

import assert from 'node:assert/strict'
import { accessible, askTest, baton, browser, calm, DESKTOP, fits, PHONE, saw, shot, visitor } from './visitor.mjs'

const { PAGE, ISSUER } = process.env
const signInButton = (page) => page.getByRole('button', { name: 'Sign in with Example' })
const alert = (page, words) => page.getByRole('alert').getByText(words)
const inside = (page) => page.getByRole('heading', { name: 'Sessions', level: 1 })

/** Somebody at the page, whose way leads to the provider and back. */
async function somebody(how = { viewport: DESKTOP }) {
  const page = await visitor(how)
  page.home = new URL(PAGE).host
  await page.goto(PAGE)
  await signInButton(page).waitFor()
  return page
}

/** Types a name at the provider, and agrees. */
async function signInAs(page, name) {
  await signInButton(page).click()
  await page.getByPlaceholder('Enter any login').fill(name)
  await page.getByPlaceholder('and password').fill('whatever')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** The same, but the browser stays at the provider: the address at which it would come in. */
async function comeAlmost(page, name) {
  let resolve
  const url = new Promise((found) => (resolve = found))
  const interactions = `${ISSUER}/interaction/**`
  await page.route(interactions, async (route) => {
    if (!route.request().postData()?.includes('prompt=consent')) return route.continue()
    const agreed = await route.fetch({ maxRedirects: 0 })
    const next = new URL(agreed.headers().location, ISSUER).href
    const back = await page.context().request.get(next, { maxRedirects: 0 })
    // No content leaves the browser where it is; a failure would show a page of its own, later, over the next one.
    await route.fulfill({ status: 204 })
    resolve(back.headers().location)
  })
  await signInAs(page, name)
  const found = await url
  await page.unroute(interactions)
  return found
}

/** The provider alone is another host, and only because the person went there. */
async function undisturbed(page) {
  page.foreign = page.foreign.filter((url) => !url.startsWith(ISSUER))
  await calm(page)
}

const names = (owner) => JSON.parse(baton('--json', 'keys', 'list', '--owner', owner)).items
const living = (owner) => names(owner).filter((key) => key.revoked_at == null)

async function comeAndGo() {
  const page = await somebody()
  await accessible(page, 'the ways in')
  await shot(page, 'ways')
  await signInAs(page, 'ada')
  await inside(page).waitFor()
  await page.getByText('by ada@example.org (Example)').waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the code is gone from the address')
  assert.ok(!page.url().includes('callback'))
  await undisturbed(page)
  saw('signed in as shop, by what the provider says of Ada')

  await page.reload()
  await inside(page).waitFor()
  const [key] = living('shop')
  assert.deepEqual([key.name, key.scopes], ['ada@example.org (Example)', ['read', 'drive', 'watch']])
  assert.ok(key.id.startsWith('person_'))
  const second = await somebody()
  await signInAs(second, 'ada')
  await inside(second).waitFor()
  assert.equal(living('shop').length, 1, 'her pages stand for one key')
  await second.getByRole('button', { name: 'Sign out' }).click()
  await signInButton(second).waitFor()
  assert.equal(living('shop').length, 1)
  saw('two pages of hers, and one that signs out')
  await second.context().close()
  return page
}

async function others() {
  const eve = await somebody({ viewport: PHONE })
  await fits(eve, 'the ways in, on a phone')
  await signInAs(eve, 'eve')
  await alert(eve, 'expected somebody whom a rule names, found eve@example.org').waitFor()
  await accessible(eve, 'a person whom no rule names')
  await fits(eve, 'a refusal, on a phone')
  await undisturbed(eve)
  await shot(eve, 'no-rule')
  saw('a person whom no rule names')
  await eve.context().close()

  const shy = await somebody()
  await signInButton(shy).click()
  await shy.getByRole('link', { name: 'Cancel' }).click()
  await alert(shy, 'the provider signed nobody in: access_denied').waitFor()
  saw('a person who does not want to')
  await shy.context().close()
}

async function stolen() {
  const ada = await somebody()
  const url = await comeAlmost(ada, 'ada')
  const thief = await somebody()
  await thief.goto(url)
  await alert(thief, 'found one that another browser began').waitFor()
  await ada.goto(url)
  await inside(ada).waitFor()
  saw('an answer that another browser brings, and the one that it belongs to')
  await ada.goto(url)
  await ada.evaluate(() => sessionStorage.clear())
  await ada.goto(url)
  await alert(ada, 'found one that does not count, or no longer').waitFor()
  saw('an answer that comes twice')
  await thief.context().close()
  return ada
}

/** Mallory signs in as she may, and leads somebody else to where she would be in. */
async function led() {
  const mallory = await somebody()
  const redeems = '**/page/session'
  const code = new Promise((found) => {
    void mallory.route(redeems, async (route) => {
      await route.abort()
      found(route.request().postDataJSON().code)
    })
  })
  await signInAs(mallory, 'ada')
  const url = `${PAGE}#code=${await code}`
  const victim = await somebody()
  // Where only what is behind # is another one, nothing is loaded.
  await victim.goto('about:blank')
  await victim.goto(url)
  await alert(victim, 'found one with which another browser came back').waitFor()
  await accessible(victim, 'an address of another browser')
  await mallory.unroute(redeems)
  await mallory.goto('about:blank')
  await mallory.goto(url)
  await inside(mallory).waitFor()
  saw('an address that signs in who came back by it, and nobody else')
  await victim.context().close()
  await mallory.context().close()
}

async function silent() {
  const late = await somebody()
  const url = await comeAlmost(late, 'ada')
  await askTest('stop the provider')
  await late.goto(url)
  await alert(late, 'does not answer').waitFor()
  saw('a provider that does not answer')
  await askTest('start the provider with another key')
  await late.goto(PAGE)
  await signInAs(late, 'ada')
  await inside(late).waitFor()
  await undisturbed(late)
  saw('a provider with another key, which says more where it is asked')
  await late.context().close()
}

async function ends(page) {
  await inside(page).waitFor()
  await askTest('start the node again')
  await page.getByText('What is shown is what was known last').waitFor({ state: 'hidden' })
  await page.reload()
  await inside(page).waitFor()
  saw('a node that starts again knows her')
  baton('keys', 'revoke', 'ada@example.org (Example)', '--owner', 'shop')
  await signInButton(page).waitFor()
  saw('her key is revoked, and her page goes dark')
  await signInAs(page, 'ada')
  await inside(page).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signInButton(page).waitFor()
  saw('signed out')
  // The provider still knows her: signing out here ends what is here.
  await signInButton(page).click()
  await inside(page).waitFor()
  await askTest('take the rule away')
  await signInButton(page).waitFor()
  assert.deepEqual(living('shop'), [], 'nothing of what the rule gave is left')
  await signInButton(page).click()
  await alert(page, 'expected somebody whom a rule names').waitFor()
  saw('a rule that is gone takes along what it gave')
}

const first = await comeAndGo()
await others()
const again = await stolen()
await again.context().close()
await led()
await silent()
await ends(first)
await browser.close()
process.exit(0)
