// The beginning of a text, as many bytes of UTF-8 as may be.

const ENCODER = new TextEncoder()

/** The beginning, cut between two characters, and whether it is not all. */
export function cut(text: string, most: number): { text: string; isCut: boolean } {
  if (text.length * 3 <= most) return { text, isCut: false }
  const { read } = ENCODER.encodeInto(text, new Uint8Array(most))
  return read >= text.length ? { text, isCut: false } : { text: text.slice(0, read), isCut: true }
}

/** Bytes of a text in UTF-8. */
export function bytesIn(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at += 1) {
    const c = text.charCodeAt(at)
    if (c < 0x80) continue
    // A pair of surrogates has two units and four bytes.
    bytes += c < 0x800 || (c >= 0xd800 && c <= 0xdfff) ? 1 : 2
  }
  return bytes
}
