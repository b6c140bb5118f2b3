// A picture as a node sends it: a header of 24 bytes, and a JPEG. `LiveMessage` in the node's document says the rest.

/** What precedes the JPEG. */
export interface Picture {
  /** Its number, which the viewer gives back once it is drawn. */
  number: number
  /** The tab that it shows. */
  tab: number
  /** The viewport of that, in CSS pixels: places are told by them. */
  width: number
  height: number
  /** Where the JPEG begins. */
  begins: number
}

/** The largest picture that is looked at, in bytes. */
const MOST_BYTES = 16 << 20
const JPEG = 0xffd8ff

/** Reads a picture; nothing where it is none. */
export function pictureOf(bytes: ArrayBuffer): Picture | undefined {
  const view = new DataView(bytes)
  if (bytes.byteLength < 28 || bytes.byteLength > MOST_BYTES) return undefined
  const [version, kind, begins] = [view.getUint8(0), view.getUint8(1), view.getUint16(2)]
  if (version !== 1 || kind !== 1 || begins < 24 || begins + 4 > bytes.byteLength) return undefined
  if (view.getUint32(begins) >>> 8 !== JPEG) return undefined
  const [width, height] = [view.getUint16(16), view.getUint16(18)]
  if (width === 0 || height === 0) return undefined
  return { number: Number(view.getBigUint64(4)), tab: view.getUint32(12), width, height, begins }
}

/** The steps in which a size is asked for: each other one begins the pictures anew. */
const STEP = 160
const MOST_SIDE = 2560

/** The size that is asked for, for a place of so many CSS pixels. */
export function sizeFor(width: number, height: number, density: number): { width: number; height: number } {
  const side = (length: number) => Math.min(MOST_SIDE, Math.max(STEP, Math.ceil((length * density) / STEP) * STEP))
  return { width: side(width), height: side(height) }
}
