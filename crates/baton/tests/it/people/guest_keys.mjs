// A guest with a keyboard alone: opens a link, signs in in the picture, leaves that and is done; declines another link;
// and cannot do what a third one is for.

import { askTest, button, calm, DESKTOP, focused, saw, tell, to, visitor } from './visitor.mjs'

const keys = (page) => page.locator('textarea.keys')
const titled = (page, title) => page.getByRole('img', { name: `Live picture of ${title}`, exact: true }).waitFor()

/** Somebody at the link of a new ask, in a browser that knows nothing of the node. */
async function invited() {
  const link = await askTest('ask a guest')
  const page = await visitor({ viewport: DESKTOP })
  page.home = new URL(link).host
  await page.goto(link)
  await page.getByRole('heading', { name: 'kimi asks you' }).waitFor()
  return page
}

async function opens(page) {
  await to(page, page.getByLabel('Your name'))
  await page.keyboard.type('ada')
  await to(page, button(page, 'Open'))
  await page.keyboard.press('Enter')
  await page.locator('canvas[data-picture]').waitFor()
  await focused(keys(page))
}

/** The tabulator leads from field to field of the page in the picture, and not out of it. */
async function signsIn(page) {
  await titled(page, 'Sign in')
  await page.keyboard.press('Tab')
  await titled(page, 'Who')
  await page.keyboard.type('ada')
  await page.keyboard.press('Tab')
  await page.keyboard.type('geheim')
  await page.keyboard.press('Enter')
  await titled(page, 'One more code')
  await page.keyboard.press('Tab')
  await titled(page, 'Which code')
  await page.keyboard.type('123456')
  await page.keyboard.press('Enter')
  await titled(page, 'Signed in as Ada')
  saw('signed in with a second factor, in the picture')
}

/** Out of the picture, to what is beside it. */
async function leavesPicture(page) {
  await page.keyboard.press('F6')
  await focused(button(page, 'Done'))
}

/** It is over, and this is said of it. */
async function ends(page, words) {
  await focused(page.getByRole('heading', { name: 'Thank you', level: 1 }))
  await page.getByText(words).waitFor()
  await calm(page)
  await page.context().close()
}

async function isDone() {
  const page = await invited()
  await opens(page)
  saw('a link that is opened, and the focus in the picture')
  await signsIn(page)
  await leavesPicture(page)
  await to(page, keys(page))
  await leavesPicture(page)
  saw('out of the picture, in again, and out')
  await page.keyboard.press('Enter')
  await ends(page, 'The browser is given back, and who asked goes on.')
  saw('done, with the focus at the end')
}

async function declines() {
  const page = await invited()
  await to(page, button(page, 'Decline'))
  await page.keyboard.press('Enter')
  await ends(page, 'Who asked is told that you cannot do it.')
  saw('another link, which is declined')
}

async function cannot() {
  const page = await invited()
  await opens(page)
  await leavesPicture(page)
  await to(page, button(page, 'Cannot do it'))
  await page.keyboard.press('Enter')
  await ends(page, 'Who asked is told that you cannot do it.')
  saw('a third one, for what cannot be done')
}

await tell(async () => {
  await isDone()
  await declines()
  await cannot()
})
