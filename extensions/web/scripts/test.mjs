// Runs the unit tests: each file is bundled into `dist-test/` and given to Node's own test runner.
//
// A name as argument runs the files whose path contains it.

import { spawnSync } from 'node:child_process'
import { build } from 'esbuild'
import { globSync, rmSync } from '../../shared/files.mjs'

const root = new URL('..', import.meta.url).pathname
const wanted = process.argv.slice(2)
const files = globSync(`${root}test/unit`, '.test.ts').filter((file) => wanted.every((word) => file.includes(word)))

rmSync(`${root}dist-test`)
await build({
  entryPoints: files,
  outdir: `${root}dist-test`,
  outbase: `${root}test`,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  packages: 'external',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'warning',
})
const built = globSync(`${root}dist-test`, '.mjs')
const run = spawnSync(process.execPath, ['--enable-source-maps', '--test', '--test-timeout=60000', ...built], {
  stdio: 'inherit',
  cwd: root,
})
process.exit(run.status ?? 1)
