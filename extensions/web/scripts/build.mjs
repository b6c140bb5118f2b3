// Builds the page into the folder of the program that serves it, which is compiled in: whoever builds Baton needs no
// other tool than Rust's. `--compare` builds it beside, and says whether what is there is the same.

import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { rmSync } from '../../shared/files.mjs'

/** The most that the page may weigh, compressed: what is loaded at first. */
const MOST_BYTES = 150_000
const FIRST = ['index.html', 'page.js', 'page.css', 'icon.svg']
/** What is loaded once somebody looks at the display of a sandbox. */
const LATER = ['display.js']
const FILES = [...FIRST, ...LATER]

/** What is not ours in it, and under which terms. */
const OTHERS =
  '/*! With Preact (c) Jason Miller, @preact/signals (c) Preact Team, openapi-fetch (c) Drew Powers, under the MIT License: https://opensource.org/license/mit */'

/** The same of what shows displays, whose terms are of its files. */
const OF_DISPLAYS =
  '/*! With noVNC (c) The noVNC authors, under the Mozilla Public License 2.0: https://www.mozilla.org/MPL/2.0/, its source and which lines are others here: https://github.com/novnc/noVNC, scripts/build.mjs; with pako (c) Vitaly Puzrin, under the MIT License: https://opensource.org/license/mit */'

/**
 * What of noVNC the page's policy does not let through: pictures and cursors at addresses of the scheme data. Pictures
 * come from memory instead, and the cursor is drawn, as noVNC does where a browser knows no other way.
 */
const OTHERWISE = [
  [
    'core/display.js',
    'img.src = "data: " + mime + ";base64," + Base64.encode(arr);',
    'img.src = URL.createObjectURL(new Blob([arr], { type: mime })); img.addEventListener("load", () => URL.revokeObjectURL(img.src), { once: true });',
  ],
  ['core/util/cursor.js', 'const useFallback = !supportsCursorURIs || isTouchDevice;', 'const useFallback = true;'],
]

/**
 * The cipher of VNC's passwords, which is under terms of its own, is left out: the node answers the display, and says
 * that it wants no password.
 */
const LEFT_OUT = ['core/crypto/des.js', 'export class DESECBCipher {}\nexport class DESCBCCipher {}\n']

/** Changes those lines, each of which has to be there. */
const withinPolicy = {
  name: 'within the policy',
  setup(build) {
    build.onLoad({ filter: /@novnc\/novnc\/core\/.*\.js$/ }, async ({ path }) => {
      if (path.endsWith(LEFT_OUT[0])) return { contents: LEFT_OUT[1], loader: 'js' }
      let text = await readFile(path, 'utf8')
      for (const [file, before, after] of OTHERWISE.filter(([file]) => path.endsWith(file))) {
        if (!text.includes(before)) throw new Error(`expected ${file} to say ${before}`)
        text = text.replace(before, after)
      }
      return { contents: text, loader: 'js' }
    })
  },
}

const path = (name) => new URL(`../${name}`, import.meta.url).pathname
const built = path('../../crates/server/src/page/built')
const compares = process.argv.includes('--compare')
const made = compares ? await mkdtemp(join(tmpdir(), 'page-')) : (process.argv[2] ?? built)

const shared = {
  outdir: made,
  // What is built does not say where.
  absWorkingDir: path(''),
  bundle: true,
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  format: 'esm',
  target: ['chrome125', 'firefox128', 'safari17.4'],
}
await build({
  ...shared,
  entryPoints: [path('src/page.tsx'), path('src/page.css')],
  banner: { js: OTHERS },
  external: ['/page/display.js'],
})
await build({ ...shared, entryPoints: [path('src/display/display.ts')], banner: { js: OF_DISPLAYS }, plugins: [withinPolicy] })
for (const name of ['index.html', 'icon.svg']) await writeFile(join(made, name), await readFile(path(`src/${name}`)))

const read = (folder) => Promise.all(FILES.map((name) => readFile(join(folder, name))))
const files = await read(made)
const bytes = files.slice(0, FIRST.length).reduce((sum, file) => sum + gzipSync(file).length, 0)
console.log(`the page: ${bytes} bytes, compressed`)
if (bytes > MOST_BYTES) throw new Error(`expected a page of at most ${MOST_BYTES} bytes, compressed`)
if (compares) {
  rmSync(made)
  const kept = await read(built)
  const other = FILES.find((_, index) => !kept[index].equals(files[index]))
  if (other !== undefined) throw new Error(`${built}/${other} is old; \`npm run build\` in extensions/web writes it anew`)
}
