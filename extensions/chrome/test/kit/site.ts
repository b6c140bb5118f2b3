// A cocoon's pages, on loopback, behind what adds the token to real navigations.

import { randomBytes } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import type { Cocoon } from '../../src/protocol.ts'

export type Answer = string | ((request: IncomingMessage, response: ServerResponse, body: string) => void)

export class Site {
  private constructor(
    private readonly server: Server,
    readonly port: number,
    private readonly name: string,
  ) {}

  /** Pages by path; those that begin with `<` are HTML, others scripts. */
  static async start(name: string, pages: Record<string, Answer>, { hasToken = true } = {}): Promise<Site> {
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (part) => (body += String(part)))
      request.on('end', () => {
        const isPage = request.headers['sec-fetch-dest'] === 'document'
        if (isPage && hasToken) response.setHeader('x-adi-debug-token', `page.${randomBytes(12).toString('hex')}`)
        response.setHeader('cache-control', 'no-store')
        const answer = pages[new URL(request.url ?? '/', 'http://x').pathname]
        if (typeof answer === 'function') return answer(request, response, body)
        if (answer === undefined) return response.writeHead(404, { 'content-type': 'text/plain' }).end('no')
        response.setHeader('content-type', answer.startsWith('<') ? 'text/html' : 'text/javascript')
        response.end(answer)
      })
    })
    const sockets = new WebSocketServer({ server })
    sockets.on('connection', (socket) => socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return new Site(server, (server.address() as AddressInfo).port, name)
  }

  get origin(): string {
    return `http://${this.name}.localhost:${this.port}`
  }

  /** Where it echoes what is sent over a WebSocket. */
  get echo(): string {
    return `ws://${this.name}.localhost:${this.port}/echo`
  }

  get cocoon(): Cocoon {
    return { id: this.name, name: this.name, origin: this.origin, path: '/' }
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((done) => this.server.close(done))
  }
}
