// A real Chromium on a profile of its own, with the extension loaded.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { EXTENSION_ID } from '../../src/id.ts'
import { Cdp } from './cdp.ts'
import { until } from './wait.ts'

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const DIST = join(process.cwd(), 'dist')

interface Target {
  targetId: string
  type: string
  url: string
}

/** One tab, as a test drives it. */
export class Page {
  constructor(
    private readonly cdp: Cdp,
    readonly target: string,
    readonly session: string,
  ) {}

  /** Goes to an address, and waits until it is loaded. */
  async goto(url: string): Promise<void> {
    const loaded = this.loaded()
    await this.send('Page.navigate', { url })
    await loaded
  }

  loaded(): Promise<void> {
    return new Promise((done) => {
      const stop = this.cdp.listen((method, _params, session) => {
        if (session !== this.session || method !== 'Page.loadEventFired') return
        stop()
        done()
      })
    })
  }

  send<T = Record<string, unknown>>(method: string, params: Record<string, unknown> = {}): Promise<T> {
    return this.cdp.send<T>(method, params, this.session)
  }

  /** The value of an expression. */
  async evaluate<T = unknown>(expression: string): Promise<T> {
    const params = { expression, awaitPromise: true, returnByValue: true, userGesture: true }
    const answer = await this.send<{ result: { value: T }; exceptionDetails?: { exception?: { description?: string } } }>('Runtime.evaluate', params)
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception?.description ?? 'thrown')
    return answer.result.value
  }

  async close(): Promise<void> {
    await this.cdp.send('Target.closeTarget', { targetId: this.target })
  }
}

export class Browser {
  private constructor(
    readonly cdp: Cdp,
    /** Its process. */
    readonly pid: number,
    private readonly end: () => Promise<void>,
  ) {}

  /** Starts one; `withExtension: false` leaves the extension out. */
  static async start({ withExtension = true, args = [] as string[] } = {}): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), 'baton-chrome-'))
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    const child = spawn(
      CHROMIUM,
      [
        '--headless=new',
        ...sandbox,
        '--remote-debugging-pipe',
        '--enable-unsafe-extension-debugging',
        `--user-data-dir=${profile}`,
        '--no-first-run',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--disable-background-networking',
        '--disable-component-update',
        '--silent-debugger-extension-api',
        ...args,
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    )
    const cdp = new Cdp(child.stdio[3] as Writable, child.stdio[4] as Readable)
    const end = async () => {
      const ended = child.exitCode === null ? once(child, 'exit') : undefined
      await cdp.send('Browser.close').catch(() => child.kill('SIGKILL'))
      await ended
      await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    }
    const browser = new Browser(cdp, child.pid ?? 0, end)
    if (withExtension) await browser.load()
    return browser
  }

  private async load(): Promise<void> {
    const { id } = await this.cdp.send<{ id: string }>('Extensions.loadUnpacked', { path: DIST })
    if (id !== EXTENSION_ID) throw new Error(`expected the extension ${EXTENSION_ID}, found ${id}`)
    await until('the worker runs', async () => (await this.worker()) !== undefined)
  }

  async targets(): Promise<Target[]> {
    return (await this.cdp.send<{ targetInfos: Target[] }>('Target.getTargets')).targetInfos
  }

  /** The extension's worker, while it runs. */
  async worker(): Promise<Target | undefined> {
    const all = await this.targets()
    return all.find(({ type, url }) => type === 'service_worker' && url.startsWith(`chrome-extension://${EXTENSION_ID}/`))
  }

  /** Ends the extension's worker, as the browser does when it is idle. */
  async stopWorker(): Promise<void> {
    const worker = await this.worker()
    if (worker === undefined) throw new Error('expected a worker that runs, found none')
    await this.cdp.send('Target.closeTarget', { targetId: worker.targetId })
    await until('the worker ended', async () => (await this.worker())?.targetId !== worker.targetId)
  }

  /** Opens a tab. */
  async open(url = 'about:blank'): Promise<Page> {
    const { targetId } = await this.cdp.send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.cdp.send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
    const page = new Page(this.cdp, targetId, sessionId)
    await page.send('Page.enable')
    if (url !== 'about:blank') await page.goto(url)
    return page
  }

  /** Opens the popup's page. */
  popup(): Promise<Page> {
    return this.open(`chrome-extension://${EXTENSION_ID}/popup.html`)
  }

  /** Runs an expression in the extension's worker, which is awake meanwhile. */
  async inWorker<T = unknown>(expression: string): Promise<T> {
    const worker = await this.worker()
    if (worker === undefined) throw new Error('expected a worker that runs, found none')
    const { sessionId } = await this.cdp.send<{ sessionId: string }>('Target.attachToTarget', { targetId: worker.targetId, flatten: true })
    try {
      const answer = await this.cdp.send<{ result: { value: T } }>(
        'Runtime.evaluate',
        { expression, awaitPromise: true, returnByValue: true },
        sessionId,
      )
      return answer.result.value
    } finally {
      await this.cdp.send('Target.detachFromTarget', { sessionId }).catch(() => {})
    }
  }

  close(): Promise<void> {
    return this.end()
  }
}
