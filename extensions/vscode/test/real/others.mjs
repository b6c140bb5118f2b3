// What stands beside the nodes: a provider of tokens, a tunnel, and a node of another version.
//
// The provider is a real one. The tunnel and the other version are stand-ins: a dev tunnel is a service of
// somebody else, and there is no other version of Baton yet.

import { spawn } from 'node:child_process'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { until } from './houses.mjs'

/** A provider whose tokens `cloud` takes, for the client `laptop`. */
export class Provider {
  static async start(folder, room) {
    const told = {
      port: 0,
      clients: ['laptop'],
      proof: 'client_secret_post',
      key: join(room, 'provider-key'),
      algorithm: 'RS256',
      lifetime: 3600,
      said: 3600,
      tenant: 't1',
      roles: ['Sessions.Sync'],
    }
    const provider = new Provider()
    const options = { env: { ...process.env, PROVIDER: JSON.stringify(told) }, stdio: ['ignore', 'pipe', 'ignore'] }
    provider.child = spawn(process.execPath, [join(folder, 'provider.mjs')], options)
    let said = ''
    provider.child.stdout.on('data', (text) => {
      said += text
    })
    provider.issuer = await until('a provider', () => /^(http\S+)\n/.exec(said)?.[1])
    return provider
  }

  /** The settings of a node that takes its tokens. */
  settings(audience) {
    const lines = [`issuer = "${this.issuer}"`, 'tenant = "t1"', `audience = ["${audience}"]`, 'allowed_clients = ["laptop"]']
    return ['[auth.oidc]', ...lines, 'roles = ["Sessions.Sync"]', ''].join('\n')
  }

  end() {
    this.child.kill('SIGKILL')
  }
}

/** Leads to the address that `to` says, but only those who show the token of the tunnel, as dev tunnels do. */
export async function tunnel(to, token) {
  const server = createServer((asked, answer) => {
    if (asked.headers['x-tunnel-authorization'] !== `tunnel ${token}`) return answer.writeHead(401).end('sign in to this tunnel')
    const { method, url, headers } = asked
    const on = request(new URL(url, to()), { method, headers }, (answered) => {
      answer.writeHead(answered.statusCode, answered.headers)
      answered.pipe(answer)
    })
    on.on('error', () => answer.destroy())
    asked.pipe(on)
  })
  return listening(server)
}

/** A node that says that it is of this version, and nothing else. */
export async function nodeOfVersion(version) {
  const health = JSON.stringify({ status: 'ok', version, node_id: '01a203cc-a34f-834b-933c-d50684c3dfdd', identity: {} })
  return listening(createServer((_, answer) => answer.writeHead(200, { 'Content-Type': 'application/json' }).end(health)))
}

async function listening(server) {
  server.listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const end = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${server.address().port}/`, end }
}
