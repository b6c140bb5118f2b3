// A real VS Code in a browser: code-server with the packed extension, and what a person does in it.

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { until } from './houses.mjs'

/** Settings of the person: nothing in the way. */
const QUIET = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'files.simpleDialog.enable': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
}

/** The window of VS Code. */
export class Code {
  written = 0

  /** Installs the extension, starts the server and opens a window. */
  static async open({ room, tools, vsix, chromium: browser, environment, settings, shots }) {
    const code = new Code()
    const data = join(room, 'code')
    mkdirSync(join(data, 'User'), { recursive: true })
    mkdirSync(join(room, 'workspace'), { recursive: true })
    mkdirSync(shots, { recursive: true })
    // Of the settings that belong to a machine a window of this kind reads those of the machine only.
    mkdirSync(join(data, 'Machine'), { recursive: true })
    Object.assign(code, { shots, data, place: join(data, 'Machine', 'settings.json') })
    writeFileSync(join(data, 'User', 'settings.json'), JSON.stringify(QUIET))
    code.set(settings)
    const entry = join(tools, 'node_modules/code-server/out/node/entry.js')
    const words = ['--user-data-dir', data, '--extensions-dir', join(room, 'extensions'), '--config', join(room, 'config.yaml')]
    writeFileSync(join(room, 'config.yaml'), 'auth: none\n')
    const options = { env: { ...process.env, ...environment, XDG_CONFIG_HOME: room, XDG_DATA_HOME: room } }
    execFileSync(process.execPath, [entry, ...words, '--install-extension', vsix], { ...options, stdio: 'pipe' })
    const flags = [
      '--auth',
      'none',
      '--bind-addr',
      '127.0.0.1:0',
      '--disable-telemetry',
      '--disable-update-check',
      '--disable-workspace-trust',
    ]
    code.server = spawn(process.execPath, [entry, ...words, ...flags, join(room, 'workspace')], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    code.server.stdout.on('data', (text) => {
      said += text
    })
    code.server.stderr.resume()
    const url = await until('code-server', () => /listening on (http:\/\/\S+)/.exec(said)?.[1])
    code.browser = await chromium.launch({ executablePath: browser, args: ['--no-sandbox'] })
    code.page = await code.browser.newPage({ viewport: { width: 1280, height: 800 } })
    await code.page.goto(`${url}?folder=${encodeURIComponent(join(room, 'workspace'))}`)
    await code.page.locator('.statusbar').waitFor({ timeout: 60_000 })
    return code
  }

  /** Writes other settings, and loads the window anew with them. */
  async change(settings) {
    this.set(settings)
    await this.page.reload()
    await this.page.locator('.statusbar').waitFor({ timeout: 60_000 })
  }

  /** Writes the settings of the machine, for a window that is opened afterwards. */
  set(settings) {
    writeFileSync(this.place, this.text(settings))
  }

  /** The settings as VS Code keeps them. */
  text(settings) {
    this.title = `settings ${++this.written}`
    return JSON.stringify({ 'window.title': this.title, ...settings })
  }

  /** Writes other settings as a person does, in the editor, and waits until the window has them: its title is one of them. */
  async live(settings) {
    const text = this.text(settings)
    await this.runAny('Preferences: Open Remote Settings (JSON)')
    const editor = this.page.locator('.monaco-editor .view-lines', { hasText: 'window.title' })
    await editor.first().click()
    await this.page.keyboard.press('Control+A')
    await this.page.keyboard.insertText(text)
    await this.page.keyboard.press('Control+S')
    await until('the window to have the settings', async () => (await this.page.title()).includes(this.title))
    await this.page.keyboard.press('Escape')
    await editor.first().waitFor({ state: 'detached' })
  }

  /** Waits until the status bar says it. */
  async status(id, text, limit = 30_000) {
    const place = this.page.locator(`.statusbar-item[id="baton.baton.baton.${id}"]`)
    await until(
      `the status bar to say "${text}", it says "${await place.allTextContents()}"`,
      async () => (await place.allTextContents()).join().includes(text),
      limit,
    )
  }

  /** Runs a command by its title. */
  async run(title) {
    await this.page.keyboard.press('F1')
    await this.page.locator('.quick-input-widget input').first().waitFor()
    await this.page.locator('.quick-input-widget input').first().fill(`>Baton: ${title}`)
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click()
  }

  /** Runs a command of VS Code itself. */
  async runAny(title) {
    await this.page.keyboard.press('F1')
    await this.page.locator('.quick-input-widget input').first().fill(`>${title}`)
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click()
  }

  /** Picks a row of the list that is open. */
  async pick(text) {
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click({ timeout: 30_000 })
  }

  /** Answers the box that has this title. */
  async answer(title, text) {
    await this.page.locator('.quick-input-widget', { hasText: title }).waitFor()
    await this.page.locator('.quick-input-widget input').first().fill(text)
    await this.page.keyboard.press('Enter')
  }

  /** Saves a file under the name that is offered, in the workspace. */
  async save(title, name) {
    const dialog = this.page.locator('.quick-input-widget', { hasText: title })
    const offered = async () => (await dialog.locator('input').first().inputValue()).endsWith(`/${name}`)
    await until(`"${name}" to be offered`, offered)
    await dialog.locator('.monaco-button', { hasText: 'OK' }).click()
  }

  /** Waits until a message says it, and closes all of them. */
  async said(text, limit = 60_000) {
    const message = this.page.locator('.notification-list-item', { hasText: text }).first()
    await message.waitFor({ timeout: limit })
    const whole = (await message.locator('.notification-list-item-message').textContent()) ?? ''
    await this.page.keyboard.press('Escape')
    return whole
  }

  /** Waits until no message is shown: one of work that has ended goes by itself. */
  async silent() {
    const messages = this.page.locator('.notification-list-item')
    await until('the messages to go', async () => (await messages.count()) === 0)
  }

  async clear() {
    await this.page.keyboard.press('F1')
    await this.page.locator('.quick-input-widget input').first().fill('>Notifications: Clear All Notifications')
    await this.page.keyboard.press('Enter')
    // The next list would be closed with this one.
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' })
  }

  /** Names a file in the dialog that opens; until that shows a folder it takes no word. */
  async file(path) {
    const field = this.page.locator('.quick-input-widget input').first()
    await until('the dialog to show a folder', async () => (await field.inputValue()).endsWith('/'))
    const ok = this.page.locator('.quick-input-widget .monaco-button', { hasText: 'OK' }).first()
    // A dialog that still reads its folder puts that in the place of what was typed.
    await until('the dialog to take the file', async () => {
      await field.fill(path)
      await ok.click()
      return ok.waitFor({ state: 'hidden', timeout: 2_000 }).then(
        () => true,
        () => false,
      )
    })
  }

  /** Waits until no row says it. */
  async gone(text) {
    await until(`no row "${text}"`, async () => (await this.row(text).count()) === 0)
  }

  row(text) {
    return this.page.locator('.pane-body .monaco-list-row', { hasText: text }).first()
  }

  /** What is in the page that the extension shows. */
  view() {
    return this.page.frameLocator('iframe.webview').frameLocator('#active-frame')
  }

  /**
   * Takes a picture once the page rests: what fades has come to its end, and two pictures in a row are the same. The
   * pointer is out of the way, and what it called up is gone, unless that is what the picture shows. A bar that
   * moves as long as work goes on never rests, and is left out.
   */
  async shot(name, { withPointer = false } = {}) {
    const called = this.page.locator(':is(.workbench-hover, .scrollbar.visible):visible')
    let [before, now] = [undefined, Buffer.alloc(0)]
    await until('the window to rest', async () => {
      if (!withPointer) await this.page.mouse.move(1, 1)
      const gone = withPointer || (await called.count()) === 0
      before = now
      now = await this.page.screenshot({ animations: 'disabled', style: '.progress-bit { display: none !important }' })
      return gone && now.equals(before)
    })
    writeFileSync(join(this.shots, `${name}.png`), now)
  }

  /** How long the extension took to be activated, in milliseconds, as VS Code says it. */
  async activation() {
    await this.runAny('Developer: Show Running Extensions')
    const row = this.page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'Baton' }).first()
    await row.waitFor()
    await this.shot('running')
    return Number(/(\d+) ?ms/.exec((await row.textContent()) ?? '')?.[1] ?? Number.NaN)
  }

  async close() {
    await this.browser?.close()
    if (this.server === undefined || this.server.exitCode !== null) return
    const ended = new Promise((done) => this.server.once('exit', done))
    this.server.kill('SIGTERM')
    await ended
  }
}
