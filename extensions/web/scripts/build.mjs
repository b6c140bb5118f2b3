// Builds the page into the folder of the program that serves it, which is compiled in: whoever builds Baton needs no
// other tool than Rust's. `--compare` builds it beside, and says whether what is there is the same.

import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { rmSync } from '../../shared/files.mjs'

/** The most that the page may weigh, compressed. */
const MOST_BYTES = 150_000
const FILES = ['index.html', 'page.js', 'page.css', 'icon.svg']

/** What is not ours in it, and under which terms. */
const OTHERS =
  '/*! With Preact (c) Jason Miller, @preact/signals (c) Preact Team, openapi-fetch (c) Drew Powers, under the MIT License: https://opensource.org/license/mit */'

const path = (name) => new URL(`../${name}`, import.meta.url).pathname
const built = path('../../crates/server/src/page/built')
const compares = process.argv.includes('--compare')
const made = compares ? await mkdtemp(join(tmpdir(), 'page-')) : (process.argv[2] ?? built)

await build({
  entryPoints: [path('src/page.tsx'), path('src/page.css')],
  outdir: made,
  // What is built does not say where.
  absWorkingDir: path(''),
  bundle: true,
  minify: true,
  banner: { js: OTHERS },
  legalComments: 'none',
  logLevel: 'warning',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  format: 'esm',
  target: ['chrome125', 'firefox128', 'safari17.4'],
})
for (const name of ['index.html', 'icon.svg']) await writeFile(join(made, name), await readFile(path(`src/${name}`)))

const read = (folder) => Promise.all(FILES.map((name) => readFile(join(folder, name))))
const files = await read(made)
const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0)
console.log(`the page: ${bytes} bytes, compressed`)
if (bytes > MOST_BYTES) throw new Error(`expected a page of at most ${MOST_BYTES} bytes, compressed`)
if (compares) {
  rmSync(made)
  const kept = await read(built)
  const other = FILES.find((_, index) => !kept[index].equals(files[index]))
  if (other !== undefined) throw new Error(`${built}/${other} is old; \`npm run build\` in extensions/web writes it anew`)
}
