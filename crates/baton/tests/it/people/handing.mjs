// A person hands sessions over at the page: from one agent to another, on from themselves, and to nobody.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessible, baton, calm, DESKTOP, enter, enterWithKey, fits, focused, PHONE, saw, shot, tell, visitor } from './visitor.mjs'

const { DATA } = process.env
const opener = (page) => page.getByRole('button', { name: 'Hand over…', exact: true })
const dialogOf = (page) => page.getByRole('dialog', { name: 'Hand shop over' })
const to = (page) => dialogOf(page).getByLabel('To the agent')
const why = (page) => dialogOf(page).getByLabel('Why')
const drivenBy = (page, agent) => page.locator('.head .who', { hasText: `driven by ${agent}` }).waitFor()

/** Who drives the session and why, as the command line says it. */
function driver() {
  const { agent } = JSON.parse(baton('sessions', 'show', 'shop', '--json'))
  return agent == null ? undefined : { agent: agent.agent, reason: agent.reason ?? '' }
}

async function begins(page) {
  await page.getByRole('link', { name: 'shop', exact: true }).click()
  await drivenBy(page, 'kimi')
}

/** What the window says, how it looks, and that it is left by keys. */
async function looks(page) {
  await opener(page).focus()
  await page.keyboard.press('Enter')
  await focused(to(page))
  await dialogOf(page).getByRole('status').getByText('kimi drives it now').waitFor()
  assert.equal(await to(page).getAttribute('aria-describedby'), 'drives wrong', 'a reader says with the field who drives')
  // Who drives another session is known from the list.
  assert.deepEqual(
    await dialogOf(page)
      .locator('datalist option')
      .evaluateAll((all) => all.map((one) => one.value)),
    ['qwen'],
  )
  for (const [size, viewport] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ]) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      await accessible(page, `the window, ${size}, ${colorScheme}`)
      await fits(page, `the window, ${size}`)
      const box = await dialogOf(page).boundingBox()
      assert.ok(box.x >= 0 && box.x + box.width <= viewport.width && box.y >= 0 && box.y + box.height <= viewport.height)
      await shot(page, `hand-over-${size}-${colorScheme}`)
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(DESKTOP)
  saw('who drives, and who may be meant, in both sizes, light and dark')

  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
  await focused(opener(page))
  await opener(page).press('Enter')
  await focused(to(page))
  await dialogOf(page).getByRole('button', { name: 'Cancel' }).focus()
  await page.keyboard.press('Enter')
  await dialogOf(page).waitFor({ state: 'detached' })
  await focused(opener(page))
  assert.deepEqual(driver(), { agent: 'kimi', reason: '' })
  saw('left by keys, with nothing done')
}

/** A name that is none, no reason, and a node that refuses: what was typed stays. */
async function mistakes(page) {
  await page.keyboard.press('Enter')
  await focused(to(page))
  await page.keyboard.type('two words')
  await why(page).fill(' ')
  await why(page).press('Enter')
  await dialogOf(page).getByText('expected 1 to 64 letters').waitFor()
  await focused(to(page))
  assert.equal(await to(page).getAttribute('aria-invalid'), 'true')
  await accessible(page, 'a name that is none')
  await to(page).fill('codex')
  await to(page).press('Enter')
  await dialogOf(page).getByText('expected why it is taken from kimi').waitFor()
  await focused(why(page))
  saw('what is wrong, at its field')

  const detail = 'expected shop to be driven by kimi, found that it is driven by <b>qwen</b>'
  const problem = {
    type: 'urn:baton:problem:conflict',
    title: 'Conflict',
    status: 409,
    code: 'conflict',
    detail,
    hint: 'look again',
  }
  await page.route('**/pass', (route) => route.fulfill({ status: 409, json: problem }))
  await why(page).fill('kimi hangs')
  await dialogOf(page).getByRole('button', { name: 'Hand over', exact: true }).focus()
  await page.keyboard.press('Enter')
  await dialogOf(page).getByRole('alert').getByText(detail.slice(1)).waitFor()
  await dialogOf(page).getByRole('alert').getByText('Look again').waitFor()
  await focused(dialogOf(page).getByRole('button', { name: 'Hand over', exact: true }))
  assert.deepEqual([await to(page).inputValue(), await why(page).inputValue()], ['codex', 'kimi hangs'])
  await accessible(page, 'a node that refuses')
  await shot(page, 'hand-over-refused')
  await page.unroute('**/pass')
  saw('what the node refuses, with all that was typed')
}

async function toAnother(page) {
  await page.keyboard.press('Enter')
  await dialogOf(page).waitFor({ state: 'detached' })
  await drivenBy(page, 'codex')
  await page.locator('.notice', { hasText: 'shop: codex drives it from now on' }).waitFor()
  await page.locator('.progress[role=status]', { hasText: 'Hand over: codex drives it from now on' }).waitFor()
  await focused(opener(page))
  assert.deepEqual(driver(), { agent: 'codex', reason: 'kimi hangs' })
  const heard = JSON.parse(baton('audit', '--json')).items.find((one) => one.action === 'session.pass')
  assert.deepEqual([heard.outcome, heard.detail.to, heard.detail.reason], ['done', 'codex', 'kimi hangs'])
  await accessible(page, 'handed over')
  saw('codex drives, for the reason that was typed')
}

/** Who took over hands on what is theirs, and is asked for no reason. */
async function onFromAPerson(page) {
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await page.locator('canvas[data-picture]').waitFor()
  await page.getByLabel('as', { exact: true }).fill('ada')
  await page.getByRole('button', { name: 'Take over' }).click()
  await page.getByText('You drive as ada').waitFor()
  await drivenBy(page, 'ada')
  await opener(page).click()
  await dialogOf(page).getByText('You drive it now, as ada.').waitFor()
  await dialogOf(page).getByText('Not needed').waitFor()
  const known = await dialogOf(page)
    .locator('datalist option')
    .evaluateAll((all) => all.map((one) => one.value))
  assert.deepEqual(known, ['kimi', 'qwen'], 'kimi had it before')
  await to(page).fill('kimi')
  await page.keyboard.press('Enter')
  await page.getByText('You watch. kimi drives.').waitFor()
  await drivenBy(page, 'kimi')
  await focused(opener(page))
  assert.deepEqual(driver(), { agent: 'kimi', reason: '' })
  await page.getByRole('button', { name: 'Stop watching' }).click()
  saw('a person hands on to another agent than the one before')
}

async function toNobody(page) {
  await opener(page).focus()
  await page.keyboard.press('Enter')
  await focused(to(page))
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  assert.ok(await to(page).isDisabled(), 'nobody has no name')
  await accessible(page, 'to nobody')
  await page.keyboard.press('Tab')
  await focused(why(page))
  await page.keyboard.type('kimi is done')
  await page.keyboard.press('Enter')
  await page.locator('.notice', { hasText: 'shop: nobody drives it: the next agent that asks gets it' }).waitFor()
  await page.locator('.head .who').waitFor({ state: 'detached' })
  assert.equal(driver(), undefined)

  await page.keyboard.press('Enter')
  await dialogOf(page).getByText('Nobody drives it now.').waitFor()
  assert.equal(await dialogOf(page).getByRole('checkbox').count(), 0, 'there is nothing to release')
  await accessible(page, 'nobody drives')
  // Somebody comes while the window is open.
  baton('sessions', 'pass', 'shop', '--to', 'kimi')
  await dialogOf(page).getByRole('status').getByText('kimi drives it now').waitFor()
  await dialogOf(page).getByRole('checkbox').waitFor()
  await page.keyboard.press('Escape')
  await drivenBy(page, 'kimi')
  saw('nobody drives, and then who comes')
}

/** From the list, where the window is the same. */
async function fromTheList(page) {
  await page.getByRole('link', { name: 'Baton' }).click()
  const row = page.locator('.row', { has: page.getByRole('link', { name: 'shop', exact: true }) })
  const hands = page.getByRole('button', { name: 'Hand over… shop', exact: true })
  await row.locator('.who', { hasText: 'driven by kimi' }).waitFor()
  // One that has an agent and no browser is handed over, too.
  await page.getByRole('button', { name: 'Hand over… till', exact: true }).waitFor()
  await hands.focus()
  await page.keyboard.press('Enter')
  await focused(to(page))
  await accessible(page, 'the window, above the list')
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
  await focused(hands)
  await page.keyboard.press('Enter')
  await focused(to(page))
  // These keys lead through the list, but not from here.
  await page.keyboard.type('odex')
  await page.keyboard.press('Home')
  await page.keyboard.type('c')
  await page.keyboard.press('End')
  await why(page).fill('from the list')
  await page.keyboard.press('Enter')
  await dialogOf(page).waitFor({ state: 'detached' })
  await row.locator('.who', { hasText: 'driven by codex' }).waitFor()
  await focused(hands)
  assert.deepEqual(driver(), { agent: 'codex', reason: 'from the list' })
  await accessible(page, 'handed over in the list')
  baton('sessions', 'pass', 'shop', '--to', 'kimi', '--reason', 'back again')
  await row.locator('.who', { hasText: 'driven by kimi' }).waitFor()
  saw('handed over in the list')
}

/** All buttons of a row are on a phone's screen, also beside what failed. */
async function rowOnAPhone(page) {
  await page.route('**/pass', (route) => route.fulfill({ status: 409, json: { code: 'conflict', title: 'no', status: 409, detail: 'no' } }))
  await page.getByRole('button', { name: 'Hand over… shop', exact: true }).tap()
  await to(page).fill('qwen')
  await why(page).fill('no')
  await dialogOf(page).getByRole('button', { name: 'Hand over', exact: true }).tap()
  await dialogOf(page).getByRole('alert').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Cancel' }).tap()
  await page.unroute('**/pass')
  const row = page.locator('.row', { has: page.getByRole('link', { name: 'shop', exact: true }) })
  await row.getByRole('link', { name: 'Hand over failed: why' }).waitFor()
  const room = await row.boundingBox()
  const holds = async (count) => {
    const acts = await row.locator('.acts > button, .failed').all()
    assert.equal(acts.length, count)
    for (const act of acts) {
      const box = await act.boundingBox()
      assert.ok(box.x >= room.x && box.x + box.width <= room.x + room.width && box.y + box.height <= room.y + room.height)
    }
  }
  await holds(4)
  await fits(page, 'the list on a phone')
  await accessible(page, 'the list on a phone, with what failed')
  await shot(page, 'list-phone')
  // While something goes on, its button says since when.
  let goesOn
  const asked = new Promise((done) => (goesOn = done))
  await page.route('**/capture', goesOn)
  await page.getByRole('button', { name: 'Capture shop', exact: true }).tap()
  const route = await asked
  await row.locator('.acts .elapsed').waitFor()
  await holds(3)
  await route.fulfill({ status: 409, json: { code: 'conflict', title: 'no', status: 409, detail: 'no' } })
  await page.unroute('**/capture')
  await row.getByRole('link', { name: 'Capture failed: why' }).waitFor()
  saw('what can be done in the list, on a phone')
}

async function onAPhone() {
  const reader = await visitor({ viewport: PHONE })
  await enterWithKey(reader, 'reader', 'read')
  await reader.locator('.row .who', { hasText: 'driven by kimi' }).waitFor()
  assert.equal(await reader.getByRole('button', { name: /^Hand over/ }).count(), 0)
  await begins(reader)
  assert.equal(await opener(reader).count(), 0, 'who may not drive hands nothing over')
  await calm(reader)
  await reader.context().close()
  saw('no button for who may only read')

  const page = await visitor({ viewport: PHONE, colorScheme: 'dark', hasTouch: true })
  await enterWithKey(page, 'phone', 'read', 'drive')
  await rowOnAPhone(page)
  await begins(page)
  await fits(page, 'a session with its buttons on a phone')
  await opener(page).tap()
  await to(page).fill('codex')
  await why(page).fill('from the phone')
  await dialogOf(page).getByRole('button', { name: 'Hand over', exact: true }).tap()
  await drivenBy(page, 'codex')
  assert.deepEqual(driver(), { agent: 'codex', reason: 'from the phone' })
  await fits(page, 'what became of it on a phone')
  await accessible(page, 'what became of it on a phone')
  await shot(page, 'handed-over-phone-dark')
  await calm(page)
  await page.context().close()
  saw('handed over on a phone')
}

await tell(async () => {
  // Another session with an agent, which needs no browser for that.
  const file = join(DATA, 'till.json')
  writeFileSync(file, JSON.stringify({ cookies: [], origins: [] }))
  baton('import', file, '--name', 'till')
  baton('sessions', 'pass', 'till', '--to', 'qwen')
  const page = await visitor({ viewport: DESKTOP })
  await enter(page)
  await page.locator('.row .who', { hasText: 'driven by qwen' }).waitFor()
  await begins(page)
  await looks(page)
  await mistakes(page)
  await toAnother(page)
  await onFromAPerson(page)
  await toNobody(page)
  await fromTheList(page)
  await calm(page)
  await onAPhone()
})
