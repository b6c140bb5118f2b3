// Runs the tests: each file is bundled into `dist-test/` and given to Node's own test runner.
//
// A name as argument runs the files whose path contains it; `--bench` runs the measurements instead.

import { build } from 'esbuild'
import { spawnSync } from 'node:child_process'
import { globSync, rmSync } from './files.mjs'
import { redactor } from './redactor.mjs'

const root = new URL('..', import.meta.url).pathname
const isBench = process.argv.includes('--bench')
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const all = globSync(`${root}test`, isBench ? '.bench.ts' : '.test.ts')
const files = all.filter((file) => wanted.every((word) => file.includes(word)))

rmSync(`${root}dist-test`)
await build({
  entryPoints: files,
  outdir: `${root}dist-test`,
  outbase: `${root}test`,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  packages: 'external',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'warning',
  ...redactor(),
})
const built = globSync(`${root}dist-test`, '.mjs')
const options = isBench ? built : ['--test', '--test-concurrency=1', '--test-timeout=120000', ...built]
const run = spawnSync(process.execPath, ['--enable-source-maps', ...options], { stdio: 'inherit', cwd: root })
process.exit(run.status ?? 1)
