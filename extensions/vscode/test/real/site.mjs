// A web page of the story's own: it logs what it is told, and asks for what it is told to ask for.

import { createServer } from 'node:http'

/** What must be seen nowhere but in the browser and here. */
export const SECRETS = ['geheim-of-the-address', 'geheim-of-the-header', 'geheim-of-the-answer']

const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" type="image/png" href="/icon.png"><title>Tea shop</title>
<body style="background:#e8f0e4;font:40px sans-serif;margin:80px"><h1>Tea shop</h1><p>Signed in as Ada, two teas in the cart</p>
<script>
  console.log('the shop is open')
  console.warn('tea is nearly out')
  fetch('/cart?access_token=${SECRETS[0]}', { headers: { Authorization: 'Bearer ${SECRETS[1]}' } })
  new EventSource('/told').onmessage = ({ data }) => {
    const { log, get } = JSON.parse(data)
    if (log) console.error(log)
    if (get) fetch(get)
  }
</script>`

/** Its icon: a red pixel. */
const ICON = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=='

/** Opens the site on a port of its own. */
export async function openSite() {
  const [listeners, held] = [new Set(), new Set()]
  const answer = (request, response) => {
    const { pathname } = new URL(request.url, 'http://site')
    const say = (type, text, headers = {}) => response.writeHead(200, { 'Content-Type': type, ...headers }).end(text)
    if (pathname === '/') return say('text/html', PAGE)
    if (pathname === '/icon.png') return say('image/png', Buffer.from(ICON, 'base64'))
    if (pathname === '/cart') return say('application/json', '{"tea":2}', { 'Set-Cookie': `sid=${SECRETS[2]}` })
    if (pathname === '/held') return held.add(() => say('text/plain', 'at last'))
    if (pathname !== '/told') return response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('\n')
    listeners.add(response)
  }
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    /** Tells every page to log a line, or to ask for something. */
    tell(what) {
      for (const listener of listeners) listener.write(`data: ${JSON.stringify(what)}\n\n`)
    },
    /** How many requests are held. */
    held: () => held.size,
    /** Answers what is held. */
    release() {
      for (const answer of held) answer()
      held.clear()
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
