// The connection to the node: made, kept, and made again when it is lost.

import { ATTEMPT_MS, HEARTBEAT_MS, SILENCE_MS } from '../limits.ts'
import { type BrowserMessage, type RelayMessage, readRelayMessage } from '../protocol.ts'
import { delay } from './backoff.ts'
import { CODES, FINAL, type Final, REASONS, SLOW, endOf } from './codes.ts'
import { type Connection, Refused } from './node.ts'

/** How the connection is. */
export type LinkState =
  | { state: 'unpaired' }
  | { state: 'pair_again'; why: string }
  | { state: 'connecting' }
  | { state: 'connected'; since: number }
  | { state: 'waiting'; until: number; why: string }

/** The subprotocol, and the one that carries the ticket. */
const PROTOCOL = 'baton.v1'
const TICKET = 'baton.ticket.'

/** How long to wait after an end that would come again at once, in milliseconds. */
const LONG_MS = 30_000

/** What a link works with. */
export interface Ends {
  /** Asks the node for a ticket; none when there is no key. */
  connect(): Promise<{ url: string; connection: Connection } | undefined>
  opened(connection: Connection): void
  heard(message: RelayMessage): void
  closed(): void
  /** The key is good for nothing any more, or another browser has it. */
  revoked(end: Final): void
  changed(): void
}

export class Link {
  private current: LinkState = { state: 'unpaired' }
  private socket: WebSocket | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private silence: ReturnType<typeof setTimeout> | undefined
  private attempt = 0
  private lostAt = 0
  /** Attempts of before are over. */
  private turn = 0

  constructor(
    private readonly ends: Ends,
    private readonly open: (url: string, protocols: string[]) => WebSocket = (url, protocols) => new WebSocket(url, protocols),
  ) {}

  get state(): LinkState {
    return this.current
  }

  /** Connects now, unless it is connected or about to be. */
  start(): void {
    const { state } = this.current
    if (state === 'connected' || state === 'connecting' || state === 'pair_again') return
    void this.try()
  }

  /** Connects anew, whatever the state is. */
  restart(): void {
    this.stop({ state: 'unpaired' })
    void this.try()
  }

  /** Ends the connection for good. */
  stop(state: LinkState): void {
    this.end()
    this.attempt = 0
    this.lostAt = 0
    this.become(state)
  }

  /** Sends a message; false when there is no connection. */
  send(message: BrowserMessage | string): boolean {
    if (this.socket === undefined || this.current.state !== 'connected') return false
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
    return true
  }

  /** Bytes that wait to be sent. */
  get buffered(): number {
    return this.socket?.bufferedAmount ?? 0
  }

  private async try(): Promise<void> {
    this.end()
    const turn = this.turn
    const begun = Date.now()
    this.become({ state: 'connecting' })
    try {
      const grant = await this.ends.connect()
      if (turn !== this.turn) return
      if (grant === undefined) this.stop({ state: 'unpaired' })
      else this.dial(grant.url, grant.connection, begun)
    } catch (error) {
      if (turn !== this.turn) return
      if (error instanceof Refused && error.status === 401) this.revoke('revoked')
      else this.wait(begun, error instanceof Error ? error.message : String(error))
    }
  }

  private dial(url: string, connection: Connection, begun: number): void {
    const turn = this.turn
    const socket = this.open(url, [PROTOCOL, TICKET + connection.ticket])
    this.socket = socket
    const isOver = () => turn !== this.turn
    this.timer = setTimeout(() => this.lost(begun, 0), ATTEMPT_MS)
    socket.onopen = () => {
      if (isOver()) return
      clearTimeout(this.timer)
      this.become({ state: 'connected', since: Date.now() })
      this.lostAt = 0
      this.beat()
      this.ends.opened(connection)
    }
    socket.onmessage = (event) => {
      if (isOver()) return
      clearTimeout(this.silence)
      const message = typeof event.data === 'string' ? readRelayMessage(event.data) : undefined
      if (message === undefined) return
      this.attempt = 0
      if (message.type !== 'browser_debug_heartbeat') this.ends.heard(message)
    }
    socket.onclose = (event) => {
      if (!isOver()) this.lost(this.current.state === 'connected' ? Date.now() : begun, event.code)
    }
  }

  /** A message every now and then, which comes back: else the connection is lost, whatever the socket says. */
  private beat(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.send({ type: 'browser_debug_heartbeat' })
      clearTimeout(this.silence)
      this.silence = setTimeout(() => this.lost(Date.now(), CODES.silent), SILENCE_MS)
      this.beat()
    }, HEARTBEAT_MS)
  }

  private lost(begun: number, code: number): void {
    const end = endOf(code) ?? 'left'
    if (end === 'revoked' || end === 'replaced') this.revoke(end)
    else this.wait(begun, REASONS[end], SLOW.has(end))
  }

  /** Of two browsers with one key each would send the other away without end: the one that was sent away stays away. */
  private revoke(end: Final): void {
    this.stop({ state: 'pair_again', why: FINAL[end] })
    this.ends.revoked(end)
  }

  private wait(begun: number, why: string, isLong = false): void {
    this.end()
    this.lostAt ||= begun
    const now = Date.now()
    const wait = isLong ? LONG_MS : delay(this.attempt, now - this.lostAt, Math.random())
    this.attempt += 1
    const until = Math.max(now, begun + wait)
    this.become({ state: 'waiting', until, why })
    this.timer = setTimeout(() => void this.try(), until - now)
  }

  private end(): void {
    this.turn += 1
    clearTimeout(this.timer)
    clearTimeout(this.silence)
    const { socket } = this
    this.socket = undefined
    if (socket !== undefined) {
      socket.close()
      this.ends.closed()
    }
  }

  private become(state: LinkState): void {
    this.current = state
    this.ends.changed()
  }
}
