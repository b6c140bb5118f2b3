// Server-sent events: what a node tells, as soon as it happens.

/** One event. */
export interface Told {
  event: string
  data: string
}

/** The longest event that is read, in characters: a board is far smaller. */
const MOST = 8 << 20

/** The events of a stream, until it ends. */
export async function* events(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Told> {
  const decoder = new TextDecoder()
  let [rest, event, data] = ['', 'message', [] as string[]]
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true })
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
