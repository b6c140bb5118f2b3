// The one place that knows: it finds the node, listens to what it tells, and says what changed.
//
// Nothing is asked for while the node is quiet: it tells by itself what changed, and that leads to a look.

import type { FSWatcher } from 'node:fs'
import { watch } from 'node:fs'
import * as vscode from 'vscode'
import { fingerprintOf, gather, type Known, NOTHING, withBoard, withMissing, without, withSync } from './known.ts'
import { Failure, failureOf } from './node/failure.ts'
import { connect, type Node } from './node/node.ts'
import { dataFolder, findPlace, type Keys } from './node/place.ts'
import { type Listener, listen } from './node/streams.ts'
import { readSettings, type Settings } from './settings.ts'

/** How long changes that come together are waited for. */
const TOGETHER_MS = 150
/** The first and the longest pause before a node elsewhere is asked again. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** Streams that end sooner than this are opened again after a pause: something cuts them off, again and again. */
const SHORT_LIVED_MS = 5_000

/** What the extension knows, and how it keeps up. */
export class Hub implements vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<Known>()
  readonly onChange = this.changes.event
  private current: Known = NOTHING
  /** Of which node that is. */
  private knownOf: string | undefined
  private found: Node | undefined
  private listening = new AbortController()
  private folder: FSWatcher | undefined
  private pending: NodeJS.Timeout | undefined
  private retry: NodeJS.Timeout | undefined
  private pause = FIRST_PAUSE_MS
  private attempt = 0
  private connecting: Promise<void> = Promise.resolve()
  private looking: Promise<void> = Promise.resolve()

  constructor(
    private readonly keys: Keys,
    readonly version: string,
  ) {}

  get known(): Known {
    return this.current
  }

  settings(): Settings {
    const configuration = vscode.workspace.getConfiguration('baton')
    return readSettings((name) => configuration.get(name))
  }

  /** Finds the node anew: at the start, and when settings, keys or the node are others. */
  async reconnect(): Promise<void> {
    this.connecting = this.connect(++this.attempt)
    let last: Promise<void>
    do {
      last = this.connecting
      await last
      // Whoever asked waits for the attempt that counts, which may have begun since.
    } while (last !== this.connecting)
  }

  private async connect(attempt: number): Promise<void> {
    this.stopListening()
    this.tell(this.current.link === 'online' ? this.current : { ...NOTHING, failure: this.current.failure })
    try {
      const settings = this.settings()
      this.watchFolder(settings)
      const node = await connect(await findPlace(settings, this.keys, process.env), this.version)
      if (attempt !== this.attempt) return
      await this.listen(node, settings.syncEnabled)
      if (attempt !== this.attempt) return
      this.found = node
      this.pause = FIRST_PAUSE_MS
      await this.look()
    } catch (error) {
      if (attempt === this.attempt) this.lost(failureOf(error))
    }
  }

  /** The node, or why there is none. */
  async node(): Promise<Node> {
    if (this.found === undefined) await this.reconnect()
    if (this.found === undefined)
      throw this.current.failure ?? new Failure('none', 'no node answers', 'run "Baton: Start the Local Node"')
    return this.found
  }

  /** Asks the node for all that is shown; looks that are asked for meanwhile are one. */
  look(): Promise<void> {
    const node = this.found
    if (node === undefined) return this.reconnect()
    this.looking = this.looking.then(() => this.gather(node))
    return this.looking
  }

  /** Looks soon: once for all that comes together. */
  lookSoon(): void {
    clearTimeout(this.pending)
    this.pending = setTimeout(() => {
      if (this.found !== undefined) void this.look()
    }, TOGETHER_MS)
  }

  dispose(): void {
    this.attempt++
    this.stopListening()
    this.folder?.close()
    this.changes.dispose()
  }

  /** Shows the same anew: ages are others after a while. */
  showAgain(): void {
    this.changes.fire(this.current)
  }

  private async gather(node: Node): Promise<void> {
    if (this.found !== node) return
    try {
      const now = await gather(node)
      if (this.found === node) this.tell(now(this.current))
    } catch (error) {
      if (this.found === node) this.lost(failureOf(error))
    }
  }

  /** Listens to a node. What is known of it stands until it tells anew; what was known of another one is forgotten. */
  private async listen(node: Node, asksPeers: boolean): Promise<void> {
    const { signal } = this.listening
    const begun = Date.now()
    const heard = (known: Known) => {
      if (!signal.aborted) this.tell(known)
    }
    const listener: Listener = {
      changed: () => this.lookSoon(),
      sync: (standing) => heard(withSync(this.current, standing)),
      board: (view) => heard(withBoard(this.current, view)),
      silent: (what, error) => heard(withMissing(this.current, what, failureOf(error))),
      ended: () => {
        const pause = Date.now() - begun < SHORT_LIVED_MS ? FIRST_PAUSE_MS : 0
        this.retry = setTimeout(() => void this.reconnect(), pause)
      },
    }
    const asked = fingerprintOf(node)
    const known = this.knownOf === node.health.node_id ? this.current : NOTHING
    this.current = { ...known, failure: undefined, asksPeers, missing: [] }
    this.knownOf = node.health.node_id
    await listen(node, asksPeers, signal, listener)
    const fingerprint = await asked
    // What was told meanwhile counts.
    heard({ ...this.current, link: 'online', fingerprint })
  }

  private lost(failure: Failure): void {
    this.stopListening()
    this.tell(without(failure))
    if (failure.kind !== 'none' && failure.kind !== 'unreachable') return
    // The folder of a local node tells when one starts; one elsewhere has to be asked.
    if (this.folder !== undefined && failure.kind === 'none') return
    this.retry = setTimeout(() => void this.reconnect(), this.pause)
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS)
  }

  private watchFolder(settings: Settings): void {
    this.folder?.close()
    this.folder = undefined
    if (settings.nodeUrl !== undefined) return
    try {
      this.folder = watch(dataFolder(settings, process.env), (_, file) => {
        if (file === 'node.json' && this.found === undefined) void this.reconnect()
      })
      this.folder.on('error', () => this.folder?.close())
    } catch {
      // A folder that is not there yet is made by the first node.
    }
  }

  private stopListening(): void {
    this.listening.abort()
    this.listening = new AbortController()
    this.found = undefined
    clearTimeout(this.retry)
    clearTimeout(this.pending)
  }

  private tell(known: Known): void {
    this.current = known
    this.changes.fire(known)
  }
}
