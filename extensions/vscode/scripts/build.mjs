// Builds the extension into `dist/`: one script with all that it needs, but VS Code itself.
import { rm } from 'node:fs/promises'
import { build } from 'esbuild'

const path = (name) => new URL(`../${name}`, import.meta.url).pathname

await rm(path('dist'), { recursive: true, force: true })
await build({
  entryPoints: [path('src/extension.ts')],
  outfile: path('dist/extension.cjs'),
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  legalComments: 'none',
  logLevel: 'warning',
})
