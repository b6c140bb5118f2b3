// The redactor: a crate of this repository, as WebAssembly, bundled with what asks for it.
//
// `cargo xtask redactor` builds it; what it made is kept beside the crate, so that whoever builds the extension
// needs no other tool than this one's.

import { fileURLToPath } from 'node:url'

/** What esbuild has to know to bundle it. */
export function redactor() {
  const wasm = fileURLToPath(new URL('../redactor/redactor.wasm', import.meta.url))
  return { alias: { 'redactor.wasm': wasm }, loader: { '.wasm': 'base64' } }
}
