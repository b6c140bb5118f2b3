// A stand-in for the node: pairs, gives tickets, takes tabs and their events, as the protocol says.

import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Cocoon, ConsoleEntry, NetworkChange, Source } from '../../src/protocol.ts'
import { until } from './wait.ts'

/** An event as it arrived. */
export type Arrived = { seq: number; token: string } & (
  | ({ type: 'browser_debug_network_event'; source: Source } & NetworkChange)
  | { type: 'browser_debug_console_event'; entry: ConsoleEntry }
)

/** A tab that was taken. */
export interface Taken {
  token: string
  url: string
  title: string
  firstLoad: boolean
  epoch: number
  lastSeq: number
  /** Events that are missing, by what came after them. */
  holes: number[]
  events: Arrived[]
  isClosed: boolean
}

const CODE = 'K7QM-2XPD'

export class Relay {
  readonly tabs = new Map<string, Taken>()
  /** All that was said, to look for what must not be there. */
  readonly heard: string[] = []
  readonly keys = new Set<string>()
  cocoons: Cocoon[] = []
  connections = 0
  isTaking = true
  private readonly tickets = new Set<string>()
  private readonly sockets = new Set<WebSocket>()
  private server: Server | undefined
  port = 0
  readonly code = CODE

  async start(): Promise<this> {
    this.server = createServer((request, response) => void this.answer(request, response))
    const sockets = new WebSocketServer({ server: this.server, path: '/api/signaling/ws', handleProtocols: () => 'baton.v1' })
    sockets.on('connection', (socket, request) => this.connected(socket, request))
    await new Promise<void>((done) => this.server?.listen(this.port, '127.0.0.1', done))
    this.port = (this.server.address() as AddressInfo).port
    return this
  }

  /** Ends, and with it all connections; the port stays the relay's. */
  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.terminate()
    this.server?.closeAllConnections()
    await new Promise((done) => this.server?.close(done))
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Ends all connections with a code of the node. */
  hangUp(code: number): void {
    for (const socket of this.sockets) socket.close(code)
  }

  revoke(): void {
    this.keys.clear()
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await read(request)) as Record<string, string>
    const say = (status: number, what: object) => {
      response.writeHead(status, { 'content-type': status < 300 ? 'application/json' : 'application/problem+json' })
      response.end(JSON.stringify(what))
    }
    if (request.url === '/debug/pair/exchange') {
      if (body['code'] !== CODE) return say(400, { code: 'pairing_failed', detail: 'the code is not known or was used', hint: 'run `baton debug pair` again' })
      const key = `baton_${randomBytes(16).toString('hex')}`
      this.keys.add(key)
      return say(200, { key, signaling_url: `ws://127.0.0.1:${this.port}/api/signaling/ws` })
    }
    const key = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (!this.keys.has(key)) return say(401, { code: 'unauthorized', detail: 'the key is not known' })
    const ticket = randomBytes(16).toString('base64url')
    this.tickets.add(ticket)
    return say(200, { ticket, cocoons: this.cocoons, response_body_max_size: 102_400 })
  }

  private connected(socket: WebSocket, request: IncomingMessage): void {
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(/, ?/)
    const ticket = offered.find((one) => one.startsWith('baton.ticket.'))?.slice('baton.ticket.'.length)
    if (ticket === undefined || !this.tickets.delete(ticket)) return socket.close(4401)
    this.connections += 1
    this.sockets.add(socket)
    socket.on('close', () => this.sockets.delete(socket))
    socket.on('error', () => {})
    socket.on('message', (data) => this.take(socket, String(data)))
  }

  private take(socket: WebSocket, text: string): void {
    this.heard.push(text)
    const message = JSON.parse(text) as Record<string, never> & { type: string; token: string }
    const say = (what: object) => socket.send(JSON.stringify(what))
    const tab = this.tabs.get(message.token)
    switch (message.type) {
      case 'browser_debug_heartbeat':
        return say({ type: 'browser_debug_heartbeat' })
      case 'browser_debug_tab_available':
        return this.offered(message, say)
      case 'browser_debug_tab_updated':
        if (tab) Object.assign(tab, { url: message['url'], title: message['title'] })
        return
      case 'browser_debug_tab_closed':
        if (tab) tab.isClosed = true
        return
      default:
        if (tab) happened(tab, message as unknown as Arrived)
        else say({ type: 'browser_debug_error', token: message.token, code: 'tab_gone', message: 'no such tab' })
    }
  }

  /** A token of a header counts once, a grant as long as the tab is there. */
  private offered(message: Record<string, never> & { token: string }, say: (what: object) => void): void {
    if (!this.isTaking) return
    const [kind, name] = message.token.split('.')
    const known = kind === 'grant' ? this.tabs.get(name ?? '') : undefined
    if (kind === 'grant' ? known?.isClosed !== false : kind !== 'page') {
      return say({ type: 'browser_debug_error', code: 'untrusted', message: 'the token is forged or was used' })
    }
    const token = known?.token ?? `tab${randomBytes(8).toString('hex')}`
    const { url, title, epoch, first_load, reveal } = message as Record<string, unknown>
    const tab: Taken = known ?? { token, url: '', title: '', firstLoad: first_load === true, epoch: Number(epoch), lastSeq: 0, holes: [], events: [], isClosed: false }
    if (tab.epoch !== Number(epoch)) Object.assign(tab, { epoch: Number(epoch), lastSeq: 0 })
    Object.assign(tab, { url, title })
    this.tabs.set(token, tab)
    say({ type: 'browser_debug_tab_accepted', offered: message.token, token, last_seq: tab.lastSeq, resume: `grant.${token}`, revealed: reveal === true })
  }

  /** The only open tab whose address begins so, once it is there. */
  tab(address: string): Promise<Taken> {
    const all = () => [...this.tabs.values()].filter((tab) => !tab.isClosed && tab.url.startsWith(address))
    return until(`a tab of ${address} was taken`, () => all().at(-1))
  }
}

function happened(tab: Taken, event: Arrived): void {
  if (event.seq <= tab.lastSeq) return
  if (event.seq > tab.lastSeq + 1) tab.holes.push(event.seq)
  tab.lastSeq = event.seq
  tab.events.push(event)
}

async function read(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const part of request) body += String(part)
  return body
}
