// The one place that knows: it finds the node, listens to what it tells, and says what changed.
//
// Nothing is asked for while the node is quiet: an event, a command or the return of the window is what
// leads to a look.

import type { FSWatcher } from 'node:fs'
import { watch } from 'node:fs'
import * as vscode from 'vscode'
import { gather, type Known, NOTHING, withBoard, without } from './known.ts'
import { events } from './node/events.ts'
import { Failure, failureOf } from './node/failure.ts'
import { ask, connect, type Node, type Schemas } from './node/node.ts'
import { dataFolder, findPlace, type Keys } from './node/place.ts'
import { readSettings, type Settings } from './settings.ts'

/** How long changes that come together are waited for. */
const TOGETHER_MS = 150
/** The first and the longest pause before a node elsewhere is asked again. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** What the extension knows, and how it keeps up. */
export class Hub implements vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<Known>()
  readonly onChange = this.changes.event
  private current: Known = NOTHING
  private found: Node | undefined
  private listening = new AbortController()
  private folder: FSWatcher | undefined
  private pending: NodeJS.Timeout | undefined
  private retry: NodeJS.Timeout | undefined
  private pause = FIRST_PAUSE_MS
  private attempt = 0
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
    const attempt = ++this.attempt
    this.stopListening()
    this.tell(this.current.link === 'online' ? this.current : { ...NOTHING, failure: this.current.failure })
    try {
      const settings = this.settings()
      this.watchFolder(settings)
      const node = await connect(await findPlace(settings, this.keys, process.env), this.version)
      if (attempt !== this.attempt) return
      this.found = node
      this.pause = FIRST_PAUSE_MS
      this.listen(node, attempt)
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
    this.pending = setTimeout(() => void this.look(), TOGETHER_MS)
  }

  dispose(): void {
    this.attempt++
    this.stopListening()
    this.folder?.close()
    this.changes.dispose()
  }

  private async gather(node: Node): Promise<void> {
    if (this.found !== node) return
    try {
      const known = await gather(node, this.settings().syncEnabled)
      if (this.found === node) this.tell(known)
    } catch (error) {
      if (this.found === node) this.lost(failureOf(error))
    }
  }

  /** Follows the streams of the node; when they end, the node is looked for again. */
  private listen(node: Node, attempt: number): void {
    const { signal } = this.listening
    const board = ask(node.streams.GET('/federation/events', { parseAs: 'stream', signal }))
    void this.follow(board, attempt, (event, data) => {
      if (event === 'board') this.tell(withBoard(this.current, JSON.parse(data) as Schemas['FederationView']))
    })
  }

  private async follow(stream: Promise<unknown>, attempt: number, told: (event: string, data: string) => void): Promise<void> {
    try {
      for await (const { event, data } of events((await stream) as AsyncIterable<Uint8Array>)) told(event, data)
    } catch (error) {
      const failure = failureOf(error)
      // A key may not see the board: the rest is shown all the same.
      if (failure.kind === 'node' && failure.code !== undefined) return
    }
    if (attempt === this.attempt) void this.reconnect()
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
