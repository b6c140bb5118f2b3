// Hides the secrets of a tab: the node's own code, as WebAssembly.
//
// Texts are written where it says, and read from there only when they are no longer what they were, which few
// are. What goes wrong is thrown, and ends all that it knew: it is made anew at the next text. A worker that
// wakes and has nothing to hide does not load it.

import wasm from 'redactor.wasm'
import type { OwnNames } from '../protocol.ts'
import { NO_NAMES } from './names.ts'

/** What stands in the place of a secret. */
export const HIDDEN = '[redacted]'

/** What hides secrets in texts, by what they are. */
export interface Redacting {
  address(url: string): string
  /** The value of a header; of one that came several times its values, one a line. */
  header(name: string, value: string): string
  body(body: string, mime: string | undefined): string
  /** A body that came as base64: text as text, pictures and the like as base64. */
  base64(body: string, mime: string | undefined): { body: string; isBase64: boolean }
  /** A line for people: a title, an error, a stack. */
  line(text: string): string
  /** What goes over a WebSocket, in one direction: a secret may go on from one message to the next. */
  socket(connection: string, payload: string): string
  /** What was given to the console, a list as JSON, and the message that the browser made of it. */
  console(args: string, message: string): { args: string; message: string }
}

/** Shows nothing, where nobody can say what is a secret. */
export const ALL_HIDDEN: Redacting = {
  address: () => HIDDEN,
  header: () => HIDDEN,
  body: () => HIDDEN,
  base64: () => ({ body: HIDDEN, isBase64: false }),
  line: () => HIDDEN,
  socket: () => HIDDEN,
  console: () => ({ args: '[]', message: HIDDEN }),
}

/** What `redactor/src/lib.rs` exports. */
interface Exports {
  memory: WebAssembly.Memory
  input(length: number): number
  output(): number
  open(names: number, allow: number): number
  close(redactor: number): void
  redact(redactor: number, what: number, first: number, second: number): number
}

/** Kinds of text, and answers, as it numbers them. */
const ADDRESS = 0
const HEADER = 1
const BODY = 2
const BASE64 = 3
const LINE = 4
const SOCKET = 5
const CONSOLE = 6
const REFUSED = 0
const SAME = 1
const IS_BASE64 = 3

/** Bytes of the key with which a redactor remembers. */
const KEY = 16
/** Bytes that are there for texts from the beginning: more than most need. */
const ROOM = 64 << 10
/** So short a text is written faster without the encoder. */
const SHORT = 64

const ENCODER = new TextEncoder()
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

/** By which names of the node's own all redactors tell secrets. */
let own = NO_NAMES

/**
 * From now on these names of the node's own count. Where they are other ones, redactors begin anew: what was
 * known to be a secret without its name is forgotten, as the node forgets it when it starts with other settings.
 */
export function hideBy(names: OwnNames): void {
  if (JSON.stringify(names) !== JSON.stringify(own)) own = names
}

/** Names as the machine reads them: one a line. */
function lines(names: readonly string[]): string {
  return names.map((name) => name.replace(/\s/g, ' ')).join('\n')
}

/** What became of the texts. */
interface Answer {
  first: string
  second: string
  isBase64: boolean
}

/** One that runs, with all redactors that are open. */
class Machine {
  private static module: WebAssembly.Module | undefined
  private static current: Machine | undefined

  private readonly exports: Exports
  private room: Uint8Array<ArrayBuffer> = new Uint8Array(0)

  private constructor() {
    Machine.module ??= new WebAssembly.Module(bytesOf(wasm))
    this.exports = new WebAssembly.Instance(Machine.module).exports as unknown as Exports
  }

  /** The one that runs now. */
  static get(): Machine {
    Machine.current ??= new Machine()
    return Machine.current
  }

  isCurrent(): boolean {
    return Machine.current === this
  }

  /** Does something; when that fails, this one is done for. */
  private run<T>(what: () => T): T {
    try {
      return what()
    } catch (error) {
      if (this.isCurrent()) Machine.current = undefined
      throw error
    }
  }

  open({ names, allow }: OwnNames): number {
    return this.run(() => {
      const [secret, none] = [lines(names), lines(allow)]
      const room = this.roomFor(KEY + (secret.length + none.length) * 3)
      crypto.getRandomValues(room.subarray(0, KEY))
      const length = write(secret, room, KEY)
      const redactor = this.exports.open(length, write(none, room, KEY + length))
      if (redactor === REFUSED) throw new Error('too many redactors are open')
      return redactor
    })
  }

  close(redactor: number): void {
    this.run(() => this.exports.close(redactor))
  }

  redact(redactor: number, what: number, first: string, second: string): Answer {
    return this.run(() => {
      const { exports } = this
      const room = this.roomFor((first.length + second.length) * 3)
      const begin = write(first, room, 0)
      const rest = write(second, room, begin)
      const answer = exports.redact(redactor, what, begin, rest)
      if (answer === SAME) return { first, second, isBase64: false }
      if (answer === REFUSED) throw new Error('the redactor refused a text')
      const { buffer } = exports.memory
      const at = exports.output()
      const lengths = new DataView(buffer, at, 8)
      const end = at + 8 + lengths.getUint32(0, true)
      const read = (from: number, length: number) => DECODER.decode(new Uint8Array(buffer, from, length))
      return {
        first: read(at + 8, end - at - 8),
        second: read(end, lengths.getUint32(4, true)),
        isBase64: answer === IS_BASE64,
      }
    })
  }

  /** Where texts of so many bytes are written. What was shown before is gone once the memory has grown. */
  private roomFor(bytes: number): Uint8Array<ArrayBuffer> {
    const { memory } = this.exports
    if (this.room.length < bytes || this.room.length === 0) {
      const length = Math.max(bytes, ROOM)
      const at = this.exports.input(length)
      this.room = new Uint8Array(memory.buffer, at, length)
    }
    return this.room
  }
}

/** The bytes of base64: a loop, for it runs once, before the browser has made it fast. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const letters = atob(base64)
  const bytes = new Uint8Array(letters.length)
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at)
  return bytes
}

/** Writes a text; how many bytes it has. */
function write(text: string, room: Uint8Array<ArrayBuffer>, from: number): number {
  const { length } = text
  if (length <= SHORT) {
    let at = 0
    for (; at < length; at += 1) {
      const c = text.charCodeAt(at)
      if (c >= 0x80) break
      room[from + at] = c
    }
    if (at === length) return length
  }
  return ENCODER.encodeInto(text, room.subarray(from)).written
}

/** Hides the secrets of one tab, and remembers them: they are hidden wherever they come again. */
export class Redactor implements Redacting {
  private opened: { machine: Machine; id: number; own: OwnNames } | undefined

  address(url: string): string {
    return this.redact(ADDRESS, '', url).second
  }

  header(name: string, value: string): string {
    return this.redact(HEADER, name, value).second
  }

  body(body: string, mime: string | undefined): string {
    return this.redact(BODY, mime ?? '', body).second
  }

  base64(body: string, mime: string | undefined): { body: string; isBase64: boolean } {
    const { second, isBase64 } = this.redact(BASE64, mime ?? '', body)
    return { body: second, isBase64 }
  }

  line(text: string): string {
    return this.redact(LINE, '', text).second
  }

  socket(connection: string, payload: string): string {
    return this.redact(SOCKET, connection, payload).second
  }

  console(args: string, message: string): { args: string; message: string } {
    const { first, second } = this.redact(CONSOLE, args, message)
    return { args: first, message: second }
  }

  /** Forgets what it has seen. */
  close(): void {
    if (this.opened?.machine.isCurrent() === true) this.opened.machine.close(this.opened.id)
    this.opened = undefined
  }

  private redact(what: number, first: string, second: string): Answer {
    if (this.opened !== undefined && this.opened.own !== own) this.close()
    // One that is done for knew nothing that another one could take over.
    if (this.opened?.machine.isCurrent() !== true) {
      const machine = Machine.get()
      this.opened = { machine, id: machine.open(own), own }
    }
    const { machine, id } = this.opened
    return machine.redact(id, what, first, second)
  }
}
