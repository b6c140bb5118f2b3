// A person at the page of a node whose agents work in sandboxes.

import assert from 'node:assert/strict'
import {
  accessible,
  askTest,
  baton,
  button,
  calm,
  DESKTOP,
  enter,
  enterWithKey,
  everywhere,
  fits,
  focused,
  has,
  hide,
  PHONE,
  saw,
  shot,
  tell,
  to,
  visitor,
} from './visitor.mjs'

const GREEN = [0x0a, 0x7b, 0x5c]
const screen = (page) => page.locator('.rfb canvas')
const stands = (page, how) => page.locator(`.rfb[data-standing="${how}"]`)

/** Waits until the display has the colour of the notes, at a place where neither a pointer nor a word is. */
const seesNotes = (page) =>
  page.waitForFunction((green) => {
    const canvas = document.querySelector('.rfb canvas')
    if (canvas === null || canvas.width === 0) return false
    const { width, height } = canvas
    const [red, g, blue] = canvas.getContext('2d').getImageData(width / 4, (height * 3) / 4, 1, 1).data
    return [red, g, blue].every((part, at) => Math.abs(part - green[at]) < 8)
  }, GREEN)

/** Watches the display in the page's name, without the page: what it is told at the end is kept. */
const watchesToo = (page, id) =>
  page.evaluate(async (id) => {
    const headers = { 'Baton-Page': sessionStorage.getItem('baton-page') }
    const answer = await fetch(`/api/sandboxes/${id}/display`, { method: 'POST', headers })
    const { displayUrl } = await answer.json()
    const socket = new WebSocket(displayUrl)
    socket.binaryType = 'arraybuffer'
    globalThis.told = new Promise((done) => {
      socket.onclose = ({ code, reason }) => done(`${code} ${reason}`)
    })
    const hears = () => new Promise((done) => (socket.onmessage = ({ data }) => done(data)))
    socket.send(await hears())
    const [many, kind] = new Uint8Array(await hears())
    if (many !== 1 || kind !== 1) throw new Error(`${many} ways to log in, and first ${kind}`)
    socket.send(new Uint8Array([kind]))
    await hears()
    const again = new WebSocket(displayUrl)
    await new Promise((refused, opened) => {
      again.onerror = refused
      again.onopen = () => opened(new Error('a ticket counts twice'))
    })
  }, id)
const told = (page) => page.evaluate(() => globalThis.told)

/** Waits until this is what was typed there. */
async function reads(text) {
  const wanted = JSON.stringify(text)
  for (;;) {
    const typed = await askTest('what was typed')
    if (typed === wanted) return
    assert.ok(wanted.startsWith(typed.slice(0, -1)), typed)
  }
}

async function theList(page) {
  await page.getByRole('link', { name: 'Sandboxes' }).click()
  await page.getByText('No sandbox at this node').waitFor()
  await accessible(page, 'without a sandbox')
  const id = await askTest('make a sandbox')
  const row = page.getByRole('list', { name: 'Sandboxes' }).getByRole('listitem').first()
  await row.getByText('tools, of local').waitFor()
  await row.getByRole('link', { name: 'shop', exact: true }).waitFor()
  await everywhere(page, 'a sandbox')
  await shot(page, 'sandboxes')
  saw('a sandbox that was made elsewhere, and whose session it has')
  return id
}

async function theDisplay(page, id) {
  await page.getByRole('link', { name: /^Display of shop/ }).click()
  await stands(page, 'shown').waitFor()
  assert.equal(await askTest('open the notes in it'), 'Notes')
  await seesNotes(page)
  await everywhere(page, 'a display')
  await shot(page, 'display')
  saw('what its browser shows')

  const box = await screen(page).boundingBox()
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await page.keyboard.type('written by Ada, 7 plums')
  await reads('written by Ada, 7 plums')
  saw('what a person types there')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.activeElement?.textContent === 'Show it anew')
  await page.keyboard.press('Shift+Tab')
  await page.waitForFunction(() => document.activeElement?.closest('.rfb') === null)
  saw('out of it by keys')
  const password = await askTest('the password of its port')
  const said = await page.evaluate(async () => {
    const value = sessionStorage.getItem('baton-page')
    const answer = await fetch('/api/sandboxes', { headers: { 'Baton-Page': value } })
    return (await answer.text()) + document.documentElement.outerHTML
  })
  assert.ok(!said.includes(password), 'the page is told no password')
  const noted = JSON.parse(baton('--json', 'audit')).items.filter(({ action }) => action === 'sandbox.watch')
  assert.deepEqual(noted.map(({ subject, outcome }) => [subject, outcome]), [[id, 'done']])
  saw('that somebody looked is noted')
}

/** From the list into the display and out of it, twice, without a mouse: nothing is held there afterwards. */
async function byKeys(page) {
  await to(page, page.getByRole('link', { name: 'All sandboxes' }), 'Shift+Tab')
  await page.keyboard.press('Enter')
  await focused(page.getByRole('heading', { name: 'Sandboxes', level: 1 }))
  await to(page, page.getByRole('link', { name: /^Display of shop/ }))
  await page.keyboard.press('Enter')
  await focused(page.getByRole('heading', { name: /^shop/, level: 1 }))
  await stands(page, 'shown').waitFor()

  const goesIn = button(page, 'Use the keyboard there')
  const writes = async (text) => {
    await page.keyboard.press('Enter')
    // A person who does not see the page is told how it is left.
    await focused(page.getByRole('application', { name: /^Display of shop .*Escape, twice, leaves it/ }).and(screen(page)))
    await page.keyboard.type(text)
  }
  const leaves = async () => {
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await focused(button(page, 'Show it anew'))
  }
  await to(page, goesIn)
  await writes(' and pear')
  await page.keyboard.press('Tab')
  await reads('written by Ada, 7 plums and pear|')
  assert.ok(await has(screen(page)), 'the tabulator is for what is there')
  await leaves()
  await to(page, goesIn, 'Shift+Tab')
  await writes('s')
  // What was typed before has come by then.
  await reads('written by Ada, 7 plums and pear|s')
  const held = await askTest('which keys are held there')
  assert.ok(!held.includes('Escape'), `${held} is held there`)
  await leaves()
  saw('into it and out of it by keys alone')
}

/** Nobody looks: the display is left, and there again for who comes back, however soon. */
async function unseen(page) {
  const ended = page.line.waitForEvent('close')
  await hide(page, true)
  await ended
  await stands(page, 'coming').waitFor()
  for (const isSoon of [false, true]) {
    const again = page.waitForEvent('websocket')
    await Promise.all([isSoon && hide(page, true), hide(page, false), again])
    await stands(page, 'shown').waitFor()
    await seesNotes(page)
  }
  saw('nothing while nobody looks')
}

/** What a person sees of a sandbox without a display. */
async function without(page) {
  const bare = await askTest('make one without a display')
  await page.evaluate((id) => (location.hash = `#/sandboxes/${id}`), bare)
  await page.getByText('It was made without a display').waitFor()
  await accessible(page, 'without a display')
  const problem = await page.evaluate(async (id) => {
    const headers = { 'Baton-Page': sessionStorage.getItem('baton-page') }
    return (await fetch(`/api/sandboxes/${id}/display`, { method: 'POST', headers })).json()
  }, bare)
  assert.deepEqual([problem.status, problem.detail], [409, 'expected a sandbox with a display, found one without'])
  saw('a sandbox without a display')
  await page.getByRole('link', { name: 'All sandboxes' }).click()
  await page.getByRole('button', { name: `End tools ${bare.slice(-6)}` }).click()
  await page.getByText(`tools ${bare.slice(-6)}: ended`).waitFor()
  await page.getByRole('link', { name: `tools ${bare.slice(-6)}` }).waitFor({ state: 'detached' })
  saw('one that is ended in the page')
}

async function others(id) {
  const phone = await visitor({ viewport: PHONE })
  await enterWithKey(phone, 'phone', 'read', 'sandbox')
  await phone.getByRole('link', { name: 'Sandboxes' }).click()
  await phone.getByRole('heading', { name: 'Sandboxes', level: 1 }).waitFor()
  await fits(phone, 'sandboxes, on a phone')
  await accessible(phone, 'sandboxes, on a phone')
  await phone.getByRole('link', { name: /^Display of shop/ }).click()
  await stands(phone, 'shown').waitFor()
  await seesNotes(phone)
  await accessible(phone, 'a display, on a phone')
  await fits(phone, 'a display, on a phone')
  await shot(phone, 'display-phone')
  saw('a display on a phone')
  await watchesToo(phone, id)
  baton('keys', 'revoke', 'phone')
  await phone.getByRole('heading', { name: 'Sign in to Baton' }).waitFor()
  assert.equal(await told(phone), '1008 the key was revoked')
  saw('a display that goes dark with its key')
  await phone.context().close()

  const leaver = await visitor({ viewport: DESKTOP })
  await enter(leaver)
  await watchesToo(leaver, id)
  await leaver.getByRole('button', { name: 'Sign out' }).click()
  assert.equal(await told(leaver), '1008 the page was signed out')
  await leaver.context().close()
  saw('and with its page')

  const reader = await visitor({ viewport: DESKTOP })
  await enterWithKey(reader, 'reader', 'read')
  await reader.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
  assert.equal(await reader.getByRole('link', { name: 'Sandboxes' }).count(), 0)
  const status = await reader.evaluate(async (id) => {
    const headers = { 'Baton-Page': sessionStorage.getItem('baton-page') }
    return (await fetch(`/api/sandboxes/${id}/display`, { method: 'POST', headers })).status
  }, id)
  assert.equal(status, 403)
  saw('nothing for who may not')
  await reader.context().close()
}

await tell(async () => {
  const page = await visitor({ viewport: DESKTOP })
  page.on('websocket', (line) => (page.line = line))
  await enter(page)
  const id = await theList(page)
  await theDisplay(page, id)
  await byKeys(page)
  await unseen(page)
  await calm(page)
  await others(id)
  await without(page)
  await page.evaluate((id) => (location.hash = `#/sandboxes/${id}`), id)
  await stands(page, 'shown').waitFor()
  await watchesToo(page, id)
  await askTest('end the sandbox')
  await page.getByText('This sandbox has ended').waitFor()
  assert.match(await told(page), /^1001 the (sandbox|display) has ended$/)
  saw('a sandbox that ends takes its display along')
  await calm(page)
})
