// A session that is watched: one WebSocket, its pictures, and what the node says beside them.
//
// Nothing runs while nobody looks: without a turn of its own it is left while the page is hidden, and with one no
// pictures are asked for.

import { signal } from '@preact/signals'
import type { Schemas } from '../node/client.ts'
import { type Failure, failureOf } from '../node/failure.ts'
import type { Said } from './hands.ts'
import { type Picture, pictureOf } from './picture.ts'

/** How it stands with the picture. */
export type Standing = { is: 'coming' } | { is: 'shown' } | { is: 'gone' } | { is: 'lost'; why: Failure; elsewhere: boolean }

/** The first and the longest pause before it is tried again. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000
/** With what the node ends it that lets the viewer in no more (RFC 6455, section 7.4.1). */
const REFUSED = 1008
/** With what the node ends it when another page of the same guest shows it. */
const REPLACED = 4001
/** How much may wait to be sent: a line that takes no more gets no moves of a mouse. */
const MOST_WAITING = 64 << 10

/** How a session is reached that is watched. */
export interface Door {
  /** An address that shows it, once. */
  url(): Promise<string>
  /** Why there is none. */
  failed(error: unknown): Failure
  /** Who drives has changed. */
  turned(driver: Schemas['LiveDriver']): void
}

/** A session that is watched, until it is closed. */
export class Live {
  readonly standing = signal<Standing>({ is: 'coming' })
  readonly tabs = signal<Schemas['LiveTabs']>({ tabs: [], front: null, bad_pictures: 0 })
  readonly driver = signal<Schemas['LiveDriver']>({ agent: null, own: false })
  readonly pace = signal<Schemas['LivePace'] | undefined>(undefined)
  /** How many pictures came that the page could not draw. */
  readonly undrawn = signal(0)
  readonly refused = signal<string | undefined>(undefined)
  /** The viewport of the tab that is shown. */
  shown: Picture | undefined

  private socket: WebSocket | undefined
  private size = { width: 1280, height: 800 }
  private pause = FIRST_PAUSE_MS
  /** Counts the lines that were begun: only what the last one says counts. */
  private turns = 0
  private retry: ReturnType<typeof setTimeout> | undefined
  private closed = false
  private readonly seen = () => this.onSight()

  constructor(
    private readonly door: Door,
    private readonly draw: (picture: ImageBitmap, of: Picture) => void,
  ) {
    document.addEventListener('visibilitychange', this.seen)
    void this.connect()
  }

  /** Ends it. */
  close(): void {
    this.closed = true
    document.removeEventListener('visibilitychange', this.seen)
    this.drop()
  }

  /** The largest picture that is of use. */
  resize(size: { width: number; height: number }): void {
    if (size.width === this.size.width && size.height === this.size.height) return
    this.size = size
    if (!document.hidden) this.say({ type: 'look', ...size })
  }

  /** Says something; false where the line does not take it now. */
  say(message: Said): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false
    if (message.type === 'mouse' && message.kind === 'move' && this.socket.bufferedAmount > MOST_WAITING) return false
    this.socket.send(JSON.stringify(message))
    return true
  }

  /** Forgets what was refused. */
  dismiss(): void {
    this.refused.value = undefined
  }

  /** Shows it here again, where another page has its place. */
  again(): void {
    this.drop()
    void this.connect()
  }

  private onSight(): void {
    const { value } = this.standing
    if (value.is === 'lost' && value.elsewhere) return
    if (document.hidden) {
      if (this.driver.value.own) this.say({ type: 'rest' })
      else this.drop()
    } else if (this.socket === undefined) void this.connect()
    else this.say({ type: 'look', ...this.size })
  }

  private drop(): void {
    clearTimeout(this.retry)
    this.turns += 1
    const { socket } = this
    this.socket = undefined
    socket?.close()
    this.turn({ agent: null, own: false })
  }

  private turn(driver: Schemas['LiveDriver']): void {
    this.driver.value = driver
    this.door.turned(driver)
  }

  private async connect(): Promise<void> {
    if (this.closed || document.hidden) return
    // Whoever began before ends: one line at a time, and one that tries again.
    this.drop()
    const turn = this.turns
    this.standing.value = { is: 'coming' }
    let url: string
    try {
      url = await this.door.url()
    } catch (error) {
      if (turn === this.turns) this.lost(this.door.failed(error))
      return
    }
    if (turn !== this.turns || this.closed || document.hidden) return
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    this.socket = socket
    socket.onopen = () => this.say({ type: 'look', ...this.size })
    socket.onmessage = ({ data }) => {
      if (socket !== this.socket) return
      if (data instanceof ArrayBuffer) void this.picture(data, socket)
      else this.hear(JSON.parse(data as string) as Schemas['LiveMessage'])
    }
    socket.onclose = ({ code, reason }) => {
      // The page is signed out, or its key is revoked: that is heard at once.
      if (socket !== this.socket) return
      if (code === REFUSED) this.pause = 0
      this.lost(failureOf(new Error(reason === '' ? 'the node does not answer' : reason)), code === REPLACED)
    }
  }

  private lost(why: Failure, elsewhere = false): void {
    this.drop()
    if (this.closed) return
    this.standing.value = { is: 'lost', why, elsewhere }
    // Two pages that take it from each other would never end.
    if (elsewhere) return
    this.retry = setTimeout(() => void this.connect(), this.pause)
    this.pause = Math.min(Math.max(FIRST_PAUSE_MS, this.pause * 2), LONGEST_PAUSE_MS)
  }

  private hear(message: Schemas['LiveMessage']): void {
    if (message.type === 'tabs') {
      this.tabs.value = message
      if (this.standing.value.is === 'gone') this.standing.value = { is: 'coming' }
    } else if (message.type === 'driver') this.turn(message)
    else if (message.type === 'pace') this.pace.value = message
    else if (message.type === 'refused') this.refused.value = message.detail
    else if (message.type === 'gone') {
      this.standing.value = { is: 'gone' }
      this.tabs.value = { tabs: [], front: null, bad_pictures: 0 }
    }
  }

  private async picture(data: ArrayBuffer, from: WebSocket): Promise<void> {
    const of = pictureOf(data)
    if (of === undefined) return
    try {
      const bitmap = await createImageBitmap(new Blob([data.slice(of.begins)], { type: 'image/jpeg' }))
      if (from !== this.socket) return bitmap.close()
      this.shown = of
      this.draw(bitmap, of)
      bitmap.close()
      // It is there for good: what ends now is tried again soon.
      this.pause = FIRST_PAUSE_MS
      if (this.standing.value.is !== 'shown') this.standing.value = { is: 'shown' }
    } catch {
      // It is none: the next one may be.
      this.undrawn.value += 1
    }
    this.say({ type: 'drawn', number: of.number })
  }
}
