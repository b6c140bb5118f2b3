import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, modifiers, nameOf, placeIn, turned, useOf } from '../../src/live/hands.ts'
import { Live } from '../../src/live/line.ts'
import { pictureOf, sizeFor } from '../../src/live/picture.ts'
import { failureOf } from '../../src/node/failure.ts'

const none = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false }

/** A picture as the node writes it. */
function written(): { bytes: ArrayBuffer; view: DataView } {
  const bytes = new ArrayBuffer(32)
  const view = new DataView(bytes)
  view.setUint32(0, 0x0101_0018)
  view.setBigUint64(4, 77n)
  view.setUint32(12, 3)
  view.setUint16(16, 1280)
  view.setUint16(18, 800)
  view.setUint32(24, 0xffd8ffe0)
  return { bytes, view }
}

test('a picture is read as the node writes it, and what is none is not', () => {
  const { bytes, view } = written()
  assert.deepEqual(pictureOf(bytes), { number: 77, tab: 3, width: 1280, height: 800, begins: 24 })
  view.setUint32(24, 0x3c68746d)
  assert.equal(pictureOf(bytes), undefined, 'no JPEG')
  assert.equal(pictureOf(bytes.slice(0, 20)), undefined, 'too short')
  view.setUint32(24, 0xffd8ffe0)
  view.setUint16(2, 60_000)
  assert.equal(pictureOf(bytes), undefined, 'a header that is longer than all of it')
})

test('keys go to the page, to an input method, to the clipboard, or out', () => {
  const key = (name: string, more = {}) => useOf({ ...none, key: name, isComposing: false, ...more })
  assert.equal(key('a'), 'sent')
  assert.equal(key('Escape'), 'sent')
  assert.equal(key('Tab'), 'sent')
  assert.equal(key('F6'), 'leaves')
  assert.equal(key('Dead'), 'composed')
  assert.equal(key('a', { isComposing: true }), 'composed')
  assert.equal(key('Unidentified', { keyCode: 229 }), 'composed')
  assert.equal(key('v', { ctrlKey: true }), 'pasted')
  assert.equal(key('V', { metaKey: true, shiftKey: true }), 'pasted')
  assert.equal(key('c', { ctrlKey: true }), 'sent')
  assert.equal(key('м', { ctrlKey: true, keyCode: 86 }), 'pasted', 'the V of a Russian keyboard')
  assert.equal(key('ω', { metaKey: true, keyCode: 86 }), 'pasted')
  assert.equal(key('Insert', { shiftKey: true }), 'pasted')
  assert.equal(key('Unknown', { shiftKey: true, keyCode: 45 }), 'pasted')
  assert.equal(key('м', { keyCode: 86 }), 'sent', 'a letter')
  assert.equal(key('м', { ctrlKey: true, altKey: true, keyCode: 86 }), 'sent')
  assert.equal(modifiers({ ...none, altKey: true, shiftKey: true }), 9)
})

test('a place on the screen is one in the viewport', () => {
  const box = { left: 10, top: 20, width: 640, height: 400 }
  assert.deepEqual(placeIn({ clientX: 330, clientY: 220 }, box, { width: 1280, height: 800 }), { x: 640, y: 400 })
  assert.deepEqual(sizeFor(390, 390, 3), { width: 1280, height: 1280 })
  assert.deepEqual(sizeFor(1, 9000, 1), { width: 160, height: 2560 })
  assert.deepEqual(turned({ deltaX: 0, deltaY: 3, deltaMode: 1 }), { right: 0, down: 120 })
})

test('an address and a name are what a person means', () => {
  assert.equal(addressOf(' example.org/x '), 'https://example.org/x')
  assert.equal(addressOf('localhost:8080/x'), 'http://localhost:8080/x')
  assert.equal(addressOf('example.org:8443'), 'https://example.org:8443')
  assert.equal(addressOf('http://example.org'), 'http://example.org')
  assert.equal(addressOf('about:blank'), 'about:blank')
  assert.equal(nameOf('Ada Lovelace (desk)'), 'Ada-Lovelace-desk-')
  assert.equal(nameOf('漢'), '-')
  assert.equal(nameOf(''), 'person')
})

test('a picture that cannot be drawn is counted, and followed by the next one', async (t) => {
  const said: unknown[] = []
  const drawn: number[] = []
  let opened: (line: Line) => void = () => undefined
  const open = new Promise<Line>((done) => (opened = done))
  class Line {
    static readonly OPEN = 1
    readyState = 1
    onmessage: (event: { data: ArrayBuffer }) => void = () => undefined
    constructor() {
      queueMicrotask(() => opened(this))
    }
    send(text: string) {
      said.push(JSON.parse(text))
    }
    close() {
      this.readyState = 3
    }
  }
  let reads = async (): Promise<{ close(): void }> => {
    throw new Error('no picture')
  }
  const page = { hidden: false, addEventListener: () => undefined, removeEventListener: () => undefined }
  const stands = { document: page, WebSocket: Line, createImageBitmap: () => reads() }
  const before = Object.keys(stands).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const)
  for (const [name, value] of Object.entries(stands)) Object.defineProperty(globalThis, name, { configurable: true, value })
  t.after(() => {
    for (const [name, had] of before)
      if (had === undefined) Reflect.deleteProperty(globalThis, name)
      else Object.defineProperty(globalThis, name, had)
  })
  const door = { url: async () => 'ws://node.test/live', failed: failureOf, turned: () => undefined }
  const live = new Live(door, (_, { number }) => drawn.push(number))
  const line = await open
  const comes = async () => {
    const before = said.length
    line.onmessage({ data: written().bytes })
    while (said.length === before) await new Promise((done) => setImmediate(done))
  }
  await comes()
  assert.deepEqual(said, [{ type: 'drawn', number: 77 }])
  assert.deepEqual([live.undrawn.value, live.standing.value.is, drawn.length], [1, 'coming', 0])
  reads = async () => ({ close: () => undefined })
  await comes()
  assert.deepEqual([live.undrawn.value, live.standing.value.is, drawn], [1, 'shown', [77]])
  live.close()
})
