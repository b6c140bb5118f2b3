// Builds the extension into `dist/`: two scripts, the popup's page, the icons and the manifest.
import { build } from 'esbuild'
import { cp, mkdir, rm } from 'node:fs/promises'
import { redactor } from './redactor.mjs'

const root = new URL('..', import.meta.url)
const path = (name) => new URL(name, root).pathname

await rm(path('dist'), { recursive: true, force: true })
await mkdir(path('dist'))
await build({
  entryPoints: { background: path('src/background.ts'), popup: path('src/popup/popup.ts') },
  outdir: path('dist'),
  bundle: true,
  format: 'iife',
  target: 'chrome125',
  legalComments: 'none',
  logLevel: 'warning',
  ...redactor(),
})
for (const name of ['manifest.json', 'icons']) await cp(path(name), path(`dist/${name}`), { recursive: true })
for (const name of ['popup.html', 'popup.css']) await cp(path(`src/popup/${name}`), path(`dist/${name}`))
