// Bodies of answers, fetched as soon as they are complete: the browser forgets them at the next navigation.

import type { Protocol } from 'devtools-protocol'
import { BODIES, BODIES_WAITING } from '../limits.ts'
import { bytesIn, cut } from '../secrets/cut.ts'

/** A body that is text. */
export interface Body {
  text: string
  isCut: boolean
  /** Bytes of the whole. */
  size: number
}

type Fetch = () => Promise<Protocol.Network.GetResponseBodyResponse>

/** Fetches a bounded number of bodies at once, the others one after the other. */
export class Bodies {
  private running = 0
  private readonly waiting: (() => void)[] = []

  /** The text; none when it is no text, the browser has it no more, or too many are asked for. */
  async fetch(ask: Fetch, most: number): Promise<Body | undefined> {
    if (this.running >= BODIES) {
      if (this.waiting.length >= BODIES_WAITING) return undefined
      await new Promise<void>((go) => this.waiting.push(go))
    }
    this.running += 1
    try {
      return read(await ask(), most)
    } catch {
      return undefined
    } finally {
      this.running -= 1
      this.waiting.shift()?.()
    }
  }
}

function read(answer: Protocol.Network.GetResponseBodyResponse, most: number): Body | undefined {
  const bytes = answer.base64Encoded ? bytesOf(answer.body) : undefined
  const whole = answer.base64Encoded ? bytes && textOf(bytes) : answer.body
  if (whole === undefined) return undefined
  const { text, isCut } = cut(whole, most)
  return { text, isCut, size: bytes?.length ?? bytesIn(whole) }
}

/** The bytes of base64; none when it is not. */
function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** The text, if it is one; its last character may be cut. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}
