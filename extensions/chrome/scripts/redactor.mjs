// The redactor: a crate of this repository, built as WebAssembly and bundled with what asks for it.
//
// Run by itself it only builds it, and says where it is; it needs no tool from npm.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** What esbuild has to know to bundle it. */
export function redactor() {
  // Where the extension is built away from the repository, somebody else has built it.
  const wasm = process.env.BATON_REDACTOR ?? built()
  return { alias: { 'redactor.wasm': wasm }, loader: { '.wasm': 'base64' } }
}

/** Builds it; the file's path. */
function built() {
  const args = ['build', '--locked', '--package', 'baton-redactor-wasm', '--target', 'wasm32-unknown-unknown']
  const told = ['--profile', 'wasm', '--message-format', 'json-render-diagnostics']
  const run = spawnSync(process.env.CARGO ?? 'cargo', [...args, ...told], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (run.error !== undefined) throw new Error(`could not start cargo: ${run.error.message}`)
  if (run.status !== 0) throw new Error('cargo could not build the redactor')
  const files = run.stdout.split('\n').flatMap((line) => (line.startsWith('{') ? (JSON.parse(line).filenames ?? []) : []))
  const wasm = files.find((file) => file.endsWith('.wasm'))
  if (wasm === undefined) throw new Error('cargo has built no file that ends in .wasm')
  return wasm
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(built())
