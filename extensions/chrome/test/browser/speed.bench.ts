// What being looked at costs a page: a hundred requests of 20 ms each, with the extension and without, by turns.
//
// The site runs in a thread of its own, so that what the relay does is not counted as the extension's doing.
// On a busy machine the times of a pair differ by chance: the interval says how far the median may be off, and
// the load how busy it was. The processor's time that both browsers take differs less, and says how much work
// being looked at is.

import { readFileSync, readdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import type { Cocoon } from '../../src/protocol.ts'
import { Browser } from '../kit/browser.ts'
import { House } from '../kit/house.ts'
import { Site } from '../kit/site.ts'

const REQUESTS = 100
const LATENCY_MS = 20
const PAIRS = 100
/** How often the pairs are drawn anew to see how far their median may be off. */
const DRAWS = 2_000
/** How long a page rests between two runs: what is told of one is not counted to the next, in milliseconds. */
const REST_MS = 300

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

/** What a process and all below it have taken of the processor, in milliseconds (Linux). */
function processorTime(root: number): number {
  const parents = new Map<number, number>()
  const used = new Map<number, number>()
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    let stat: string
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    } catch {
      continue // It ended.
    }
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ').map(Number)
    parents.set(pid, fields[1] ?? 0)
    // Ticks of the kernel, a hundred a second.
    used.set(pid, ((fields[11] ?? 0) + (fields[12] ?? 0)) * 10)
  }
  const isBelow = (pid: number | undefined): boolean => pid === root || (pid !== undefined && pid > 1 && isBelow(parents.get(pid)))
  return [...used].reduce((sum, [pid, ms]) => (isBelow(pid) ? sum + ms : sum), 0)
}

/** The value below which that part of sorted ones is. */
function quantile(sorted: number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
}

/** Where the median is in 95 of 100 cases, by drawing as many values anew and anew. */
function interval(values: number[]): [number, number] {
  const draw = () => values[Math.floor(Math.random() * values.length)] ?? 0
  const medians = Array.from({ length: DRAWS }, () => quantile(values.map(draw).sort((a, b) => a - b), 0.5))
  medians.sort((a, b) => a - b)
  return [quantile(medians, 0.025), quantile(medians, 0.975)]
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

  const browsers = [house.browser, without] as const
  const ratios: number[] = []
  const used = [0, 0]
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const order = pair % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
    const took: number[] = []
    for (const which of order) {
      const before = processorTime(browsers[which].pid)
      took[which] = await pages[which].evaluate<number>('run()')
      await new Promise((rested) => setTimeout(rested, REST_MS))
      used[which] = (used[which] ?? 0) + processorTime(browsers[which].pid) - before
    }
    const [on = 0, off = 1] = took
    ratios.push(on / off)
    console.log(`pair ${pair + 1}: ${on.toFixed(0)} ms looked at, ${off.toFixed(0)} ms not, ratio ${(on / off).toFixed(2)}`)
  }
  ratios.sort((a, b) => a - b)
  const at = (part: number) => quantile(ratios, part).toFixed(2)
  const [low, high] = interval(ratios)
  console.log(`ratio ${at(0.5)} (95 % of its median within ${low.toFixed(2)}–${high.toFixed(2)}; quartiles ${at(0.25)} and ${at(0.75)}, ${at(0)}–${at(1)}), load ${loadavg()[0]?.toFixed(1)}`)
  console.log(`${tab.events.length} events arrived, ${tab.holes.length} holes`)
  const [on, off] = used.map((all) => (all / PAIRS).toFixed(0))
  console.log(`the browser takes ${on} ms of the processor for a run that is looked at, ${off} ms for one that is not`)
  await without.close()
  await house.close()
  await thread.terminate()
}

await (isMainThread ? measure() : serve())
