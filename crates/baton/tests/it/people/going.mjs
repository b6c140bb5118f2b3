// A person goes about in the live picture as in a browser: types addresses, goes back and forward, opens and closes
// tabs, writes with an input method and with a phone's keyboard, turns the wheel and drags.

import assert from 'node:assert/strict'
import {
  accessible,
  askTest,
  baton,
  calm,
  clickAt,
  DESKTOP,
  enter,
  fits,
  focused,
  PHONE,
  placeOf,
  saw,
  shot,
  tell,
  visitor,
} from './visitor.mjs'

const { SITE } = process.env
const live = (page) => page.getByRole('region', { name: 'Live', exact: true })
const button = (page, name) => live(page).getByRole('button', { name, exact: true })
const address = (page) => live(page).getByLabel('Address', { exact: true })
const keys = (page) => page.locator('textarea.keys')
const tabs = (page) => page.locator('.live-tabs .tab')
const inFront = (page, name) => page.locator('.live-tabs .tab[aria-current=true]').filter({ hasText: name }).waitFor()
/** The picture is the one of a page with this title. */
const pictured = (page, name) => page.getByRole('img', { name, exact: true }).waitFor()

/** Waits until the address bar says this, which nobody is typing in. */
const says = (page, url) =>
  address(page).evaluate(
    (field, url) =>
      new Promise((done) => {
        const look = () => (field.value === url ? done() : requestAnimationFrame(look))
        look()
      }),
    url,
  )

async function types(page, text) {
  await address(page).fill(text)
  await page.keyboard.press('Enter')
}

async function begins(page) {
  await enter(page)
  await page.getByRole('link', { name: 'shop', exact: true }).click()
  await button(page, 'Watch').click()
  await inFront(page, 'Front')
  await says(page, SITE)
  assert.equal(await address(page).isEditable(), false, 'who watches goes nowhere')
  assert.ok(await button(page, 'Back').and(page.locator('[aria-disabled=true]')).isVisible())
  await page.getByLabel('as', { exact: true }).fill('ada')
  await button(page, 'Take over').click()
  await page.getByText('You drive as ada').waitFor()
  await focused(keys(page))
}

async function addresses(page) {
  // Without a scheme, as people type it.
  await types(page, `${new URL(SITE).host}/till`)
  await inFront(page, 'Till')
  await says(page, `${SITE}till`)
  await pictured(page, /^Live picture of Till \d+$/)
  await button(page, 'Back').click()
  await inFront(page, 'Front')
  await says(page, SITE)
  await pictured(page, 'Live picture of Front')
  await button(page, 'Forward').click()
  await inFront(page, 'Till')
  await says(page, `${SITE}till`)
  const times = Number(await askTest('say how often the till was asked for'))
  await button(page, 'Reload').click()
  await inFront(page, `Till ${times + 1}`)
  saw('an address, back, forward and the page anew')

  await types(page, 'chrome://settings')
  const refused = live(page).getByRole('alert').filter({ hasText: "a page of the browser's own" })
  await refused.waitFor()
  await accessible(page, 'an address that is refused')
  await refused.getByRole('button', { name: 'Dismiss' }).focus()
  await page.keyboard.press('Enter')
  await refused.waitFor({ state: 'detached' })
  // Whoever put it away by a key goes on in the picture.
  await focused(keys(page))
  await says(page, `${SITE}till`)
  saw('an address that is refused, and the page that stays')
}

async function manyTabs(page) {
  await button(page, 'New tab').click()
  await says(page, 'about:blank')
  await types(page, SITE)
  await inFront(page, 'Front')
  await pictured(page, 'Live picture of Front')
  assert.equal(await tabs(page).count(), 2)
  await accessible(page, 'two tabs')
  await page.setViewportSize(PHONE)
  await fits(page, 'two tabs on a phone')
  await accessible(page, 'two tabs on a phone')
  await shot(page, 'live-tabs-phone')
  await page.setViewportSize(DESKTOP)
  await tabs(page).filter({ hasText: 'Till' }).click()
  await inFront(page, 'Till')
  await says(page, `${SITE}till`)
  await pictured(page, /^Live picture of Till \d+$/)
  // By keys, and on from there by keys.
  await live(page).getByRole('button', { name: /^Close Till/ }).focus()
  await page.keyboard.press('Enter')
  await tabs(page).filter({ hasText: 'Till' }).waitFor({ state: 'detached' })
  await inFront(page, 'Front')
  await focused(tabs(page))
  await pictured(page, 'Live picture of Front')
  await says(page, SITE)
  saw('another tab, to and fro, and closed')
}

/** What an input method does to the field that has the focus. */
async function writes(page) {
  const method = await page.context().newCDPSession(page)
  const composes = (text) =>
    method.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length })
  await clickAt(page, 200, 60)
  await focused(keys(page))
  await inFront(page, 'At the field')
  for (const text of ['に', 'にほ', 'にほん']) {
    await composes(text)
    await inFront(page, `Composes ${text}.`)
  }
  await method.send('Input.insertText', { text: '日本' })
  await inFront(page, 'Wrote 日本.')
  saw('a word of an input method, from its sounds')

  await composes('x')
  await inFront(page, 'Composes 日本x.')
  await composes('')
  await inFront(page, 'Wrote 日本.')
  // What was given up is no part of what comes next.
  await page.keyboard.type('go')
  await inFront(page, 'Has 日本go.')
  saw('a word that was given up, and keys after it')
}

/** A keyboard on a screen says of no key which one it is: what it writes comes as text. */
async function taps(page) {
  const keyboard = await page.context().newCDPSession(page)
  for (const [text, whole] of [
    [' ', '日本go '],
    ['plums', '日本go plums'],
  ]) {
    const key = { key: 'Unidentified', windowsVirtualKeyCode: 229 }
    await keyboard.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...key })
    await keyboard.send('Input.insertText', { text })
    await keyboard.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key })
    await inFront(page, `Has ${whole}.`)
  }
  await page.locator('textarea.keys').evaluate((field) => {
    field.dispatchEvent(new InputEvent('input', { inputType: 'deleteContentBackward', bubbles: true }))
  })
  await inFront(page, 'Has 日本go plum.')
  saw('words and a correction of a keyboard on a screen')
}

async function wheels(page) {
  await types(page, `${SITE}counter`)
  await inFront(page, 'Counter')
  await pictured(page, 'Live picture of Counter')
  await page.mouse.move(...(await placeOf(page, 600, 400)))
  await page.mouse.wheel(0, 600)
  await inFront(page, 'Below')
  await page.mouse.wheel(0, -6000)
  await inFront(page, 'Above')
  saw('a page that the wheel turns, to and fro')
}

async function drags(page) {
  const { mouse } = page
  await mouse.move(...(await placeOf(page, 140, 90)))
  await mouse.down()
  await inFront(page, 'Held')
  await mouse.move(...(await placeOf(page, 500, 300)), { steps: 5 })
  await mouse.up()
  await inFront(page, 'Dragged 360 210')
  // It ends wherever it is let go, out of the picture, too.
  await mouse.move(...(await placeOf(page, 500, 300)))
  await mouse.down()
  await inFront(page, 'Held')
  const box = await page.locator('.screen canvas').boundingBox()
  await mouse.move(box.x + box.width / 2, box.y - 30, { steps: 5 })
  await mouse.up()
  await inFront(page, 'Dragged over the edge')
  saw('a drag, and one that ends outside of the picture')
}

/** Another one drives, while they write. */
async function isTakenFrom(page) {
  await keys(page).focus()
  baton('sessions', 'pass', 'shop', '--to', 'kimi', '--reason', 'it is my turn')
  await keys(page).waitFor({ state: 'detached' })
  // What they go on to write, which may be a password, is for no field and presses no button.
  await focused(page.getByRole('heading', { name: 'shop', level: 1 }))
  await page.keyboard.type('secret')
  await page.keyboard.press('Enter')
  assert.equal(await page.getByLabel('as', { exact: true }).inputValue(), 'ada')
  await page.getByText('kimi drives').first().waitFor()
  saw('somebody else who drives, and nothing of what was written')
}

await tell(async () => {
  const page = await visitor({ viewport: DESKTOP })
  await begins(page)
  await addresses(page)
  await manyTabs(page)
  await writes(page)
  await taps(page)
  await wheels(page)
  await drags(page)
  await isTakenFrom(page)
  await calm(page)
})
