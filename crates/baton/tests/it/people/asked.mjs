// A guest at a link, in a browser that knows nothing of the node: at a desk with a mouse, or at a phone with a finger.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { accessible, calm, clickAt, DESKTOP, fits, PHONE, saw, shot, tapAt, tell, visitor } from './visitor.mjs'

const { LINK, SIZE } = process.env
const isPhone = SIZE === 'phone'
const screen = isPhone ? { viewport: PHONE, hasTouch: true, isMobile: true } : { viewport: DESKTOP }
const pressAt = isPhone ? tapAt : clickAt
const press = (button) => (isPhone ? button.tap() : button.click())
const titled = (page, title) => page.getByRole('img', { name: `Live picture of ${title}`, exact: true }).waitFor()

/** What can be told of a view by a machine, and its picture. */
async function looks(page, what, name) {
  for (const colorScheme of ['dark', 'light']) {
    await page.emulateMedia({ colorScheme })
    await accessible(page, `${what}, ${SIZE}, ${colorScheme}`)
  }
  await fits(page, `${what}, ${SIZE}`)
  await shot(page, `asked-${name}-${SIZE}`, true)
}

async function invited(page) {
  await page.goto(LINK)
  await page.getByRole('heading', { name: 'kimi asks you' }).waitFor()
  await page.getByText('sign in to the bank').waitFor()
  await page.getByText('while it is at bank.localhost').waitFor()
  await looks(page, 'an invitation', 'invited')
  saw('who asks for what, in another browser')
}

/** A page of somebody else that frames the link shows nothing of it. */
async function framed() {
  const server = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html')
    answer.end(`<iframe src="${LINK}"></iframe>`)
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  const page = await visitor()
  const refused = new Promise((done) => page.on('console', (message) => /frame/i.test(message.text()) && done()))
  await page.goto(`http://127.0.0.1:${server.address().port}/`)
  await refused
  assert.ok(!(await page.frames().at(-1).content()).includes('kimi'))
  await page.context().close()
  server.close()
  saw('refused in a frame')
}

async function opens(page) {
  await page.getByLabel('Your name').fill('ada')
  await press(page.getByRole('button', { name: 'Open', exact: true }))
  await page.locator('canvas[data-picture]').waitFor()
  await titled(page, 'Sign in')
  assert.equal(await page.getByLabel('Address').count(), 0)
  assert.equal(await page.getByLabel('Tabs of the browser').count(), 0)
  assert.ok(!page.url().includes(LINK.split('/').at(-1)), 'the secret is out of the address')
  await page.locator('.screen.driven').waitFor()
  await looks(page, 'the one tab', 'inside')
  saw('the one tab, without an address')
}

async function signsIn(page) {
  await pressAt(page, 200, 60)
  await titled(page, 'Who')
  await page.keyboard.type('ada')
  await page.keyboard.press('Tab')
  await page.keyboard.type('geheim')
  await page.keyboard.press('Enter')
  await titled(page, 'One more code')
  await looks(page, 'a second factor', 'factor')
  await pressAt(page, 200, 60)
  await titled(page, 'Which code')
  await page.keyboard.type('123456')
  await page.keyboard.press('Enter')
  await titled(page, 'Signed in as Ada')
  saw('signed in with a second factor')
}

async function strays(page) {
  await pressAt(page, 80, 295)
  const alert = page.getByRole('alert').filter({ hasText: 'ads.localhost' })
  await alert.first().waitFor()
  assert.ok(!(await page.content()).includes('A secret title'))
  await page.locator('.screen.dark').waitFor()
  await looks(page, 'elsewhere', 'away')
  await press(page.getByRole('button', { name: 'Back', exact: true }))
  await titled(page, 'Signed in as Ada')
  await page.locator('.screen:not(.dark)').waitFor()
  saw('dark where it was not asked for, and back')
}

async function done(page) {
  await press(page.getByRole('button', { name: 'Done', exact: true }))
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  await looks(page, 'the end', 'end')
  saw('done')
  const other = await visitor(screen)
  other.home = page.home
  await other.goto(LINK)
  await other.getByText('found one that was used already').waitFor()
  await looks(other, 'a link that counts no more', 'used')
  await calm(page)
  await calm(other)
  saw('a link that counts no more')
}

const page = await visitor(screen)
page.home = new URL(LINK).host
await tell(async () => {
  await invited(page)
  await framed()
  await opens(page)
  await signsIn(page)
  await strays(page)
  await done(page)
})
