// Addresses of a node: what a person types, where it is asked, where its socket is.

/** Where nodes listen unless told otherwise. */
export const DEFAULT_SIGNALING_URL = 'ws://127.0.0.1:7420/api/signaling/ws'

/** The origin of a node as it was typed; an error for people when it is none, or not safe. */
export function originOf(typed: string): string {
  const text = /^[a-z]+:\/\//i.test(typed.trim()) ? typed.trim() : `http://${typed.trim()}`
  if (!URL.canParse(text)) throw new Error('expected an address such as http://127.0.0.1:7420, found something else')
  const url = new URL(text)
  const scheme = { 'ws:': 'http:', 'wss:': 'https:', 'http:': 'http:', 'https:': 'https:' }[url.protocol]
  if (scheme === undefined) throw new Error(`expected an address that begins with http or https, found ${url.protocol}`)
  if (scheme === 'http:' && !isLoopback(url.hostname)) {
    throw new Error(`expected https for a node on another machine, found http; use https://${url.host}`)
  }
  return `${scheme}//${url.host}`
}

/** The address of a node's socket, if it is one that may be used. */
export function checkSignalingUrl(url: string): string {
  const origin = originOf(url)
  const parsed = new URL(url)
  if (parsed.protocol !== 'ws:' && parsed.protocol !== 'wss:') throw new Error('expected an address that begins with ws or wss')
  return `${origin.replace(/^http/, 'ws')}${parsed.pathname}${parsed.search}`
}

/** What the browser has to be asked for, before this origin can be reached and looked at; none when it is given. */
export function permissionFor(origin: string): string | undefined {
  const url = new URL(origin)
  return url.protocol === 'http:' && isLoopback(url.hostname) ? undefined : `${url.protocol}//${url.hostname}/*`
}

function isLoopback(host: string): boolean {
  return host === '127.0.0.1' || host === 'localhost' || host.endsWith('.localhost')
}
