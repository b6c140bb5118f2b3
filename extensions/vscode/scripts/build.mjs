// Builds the extension into `dist/`: one script with all that it needs, but VS Code itself, and the page of the panel.
import { rm } from 'node:fs/promises'
import { build } from 'esbuild'

const path = (name) => new URL(`../${name}`, import.meta.url).pathname
const common = { bundle: true, minify: true, legalComments: 'none', logLevel: 'warning' }

await rm(path('dist'), { recursive: true, force: true })
await build({
  ...common,
  entryPoints: [path('src/extension.ts')],
  outfile: path('dist/extension.cjs'),
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
})
await build({
  ...common,
  entryPoints: [path('src/webview/panel.ts'), path('src/webview/panel.css')],
  outdir: path('dist'),
  platform: 'browser',
  format: 'iife',
  target: 'chrome125',
})
