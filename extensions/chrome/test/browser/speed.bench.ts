// What being looked at costs a page: a hundred requests of 20 ms each, with the extension and without, by turns.
//
// The site runs in a thread of its own, so that what the relay does is not counted as the extension's doing.

import { fileURLToPath } from 'node:url'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import type { Cocoon } from '../../src/protocol.ts'
import { Browser } from '../kit/browser.ts'
import { House } from '../kit/house.ts'
import { Site } from '../kit/site.ts'

const REQUESTS = 100
const LATENCY_MS = 20
const PAIRS = 10

const PAGE = `<!doctype html><title>bench</title><link rel=icon href=data:,><script>
  globalThis.run = async () => {
    const begun = performance.now()
    await Promise.all(Array.from({ length: ${REQUESTS} }, (_, at) => fetch('/item?' + at).then((it) => it.json())))
    return performance.now() - begun
  }</script>`

async function serve(): Promise<void> {
  const site = await Site.start('shop', {
    '/': PAGE,
    '/item': (_request, response) => {
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ name: 'thing', text: 'x'.repeat(500) }))
      }, LATENCY_MS)
    },
  })
  parentPort?.postMessage(site.cocoon)
}

async function measure(): Promise<void> {
  const thread = new Worker(fileURLToPath(import.meta.url))
  const cocoon = await new Promise<Cocoon>((done) => thread.once('message', done))
  const house = await House.open()
  const without = await Browser.start({ withExtension: false })
  house.relay.cocoons.push(cocoon)
  await house.paired()
  const pages = [await house.browser.open(`${cocoon.origin}/`), await without.open(`${cocoon.origin}/`)] as const
  const tab = await house.relay.tab(cocoon.origin)
  for (const page of pages) await page.evaluate('run()')

  const ratios: number[] = []
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const order = pair % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
    const took: number[] = []
    for (const which of order) took[which] = await pages[which].evaluate<number>('run()')
    const [on = 0, off = 1] = took
    ratios.push(on / off)
    console.log(`pair ${pair + 1}: ${on.toFixed(0)} ms looked at, ${off.toFixed(0)} ms not, ratio ${(on / off).toFixed(2)}`)
  }
  ratios.sort((a, b) => a - b)
  const median = ((ratios[PAIRS / 2 - 1] ?? 0) + (ratios[PAIRS / 2] ?? 0)) / 2
  console.log(`ratio ${median.toFixed(2)} (${ratios[0]?.toFixed(2)}–${ratios.at(-1)?.toFixed(2)}), ${tab.events.length} events arrived, ${tab.holes.length} holes`)
  await without.close()
  await house.close()
  await thread.terminate()
}

await (isMainThread ? measure() : serve())
