// Real nodes for the story, each on a folder of its own, and the command line that speaks to them.

import { execFile, spawn } from 'node:child_process'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Waits until `look` finds something. */
export async function until(what, look, limit = 30_000) {
  const end = Date.now() + limit
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error(`expected ${what} within ${limit} ms`)
    await pause(100)
  }
}

/** A data folder, and the program that works on it. */
export class House {
  constructor(program, folder, environment) {
    Object.assign(this, { program, folder, environment })
  }

  /** Runs a command on it, and gives its JSON document. */
  async baton(...words) {
    const options = { env: { ...process.env, ...this.environment }, maxBuffer: 64 << 20 }
    const { stdout } = await execute(this.program, ['--data', this.folder, '--json', ...words], options)
    return stdout.trim() === '' ? undefined : JSON.parse(stdout)
  }

  /** Starts a node on it, at a free port unless told otherwise; `end` ends it. */
  async serve(listen = '127.0.0.1:0') {
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    const options = { env: { ...process.env, ...this.environment }, stdio: 'ignore' }
    this.child = spawn(this.program, ['--data', this.folder, 'serve', '--listen', listen], options)
    await until('a node', () => this.file())
  }

  async file() {
    return readFile(join(this.folder, 'node.json'), 'utf8').then(JSON.parse, () => undefined)
  }

  /** Asks its node, as its admin. */
  async ask(method, path, body) {
    const { url } = await this.file()
    const key = (await readFile(join(this.folder, 'admin.key'), 'utf8')).trim()
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const answer = await fetch(new URL(path, url), {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }

  /** Cuts its node off, as a power failure does; where it listened. */
  async cut() {
    const { host } = new URL((await this.file()).url)
    const ended = new Promise((done) => this.child.once('exit', done))
    this.child.kill('SIGKILL')
    await ended
    await rm(join(this.folder, 'node.json'))
    return host
  }

  async end() {
    if (this.child === undefined || this.child.exitCode !== null) return
    const ended = new Promise((done) => this.child.once('exit', done))
    this.child.kill('SIGTERM')
    await ended
  }
}
