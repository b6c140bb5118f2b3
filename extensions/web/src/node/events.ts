// Server-sent events over fetch, which can send headers: what a node tells, as soon as it happens.

/** One event. */
export interface Told {
  event: string
  data: string
}

/** The longest event that is read, in characters. */
const MOST = 1 << 20

/** The events of a stream, until it ends. */
export async function* events(stream: ReadableStream<Uint8Array>): AsyncGenerator<Told> {
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let [rest, event, data] = ['', 'message', [] as string[]]
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    rest += decoder.decode(value, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length + data.reduce((sum, line) => sum + line.length, 0) > MOST) throw new Error('the node tells too much at once')
    for (const line of lines.map((line) => line.replace(/\r$/, ''))) {
      if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') }
        ;[event, data] = ['message', []]
      } else if (line.startsWith('event:')) event = line.slice(6).trim()
      else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
    }
  }
}
