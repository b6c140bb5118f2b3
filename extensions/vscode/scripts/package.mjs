// Packs the extension as `dist/baton.vsix`, with the licences of the repository in it.
import { readFile, writeFile } from 'node:fs/promises'
import { createVSIX } from '@vscode/vsce'

const path = (name) => new URL(`../${name}`, import.meta.url).pathname
const licences = ['LICENSE-MIT', 'LICENSE-APACHE'].map((name) => readFile(path(`../../${name}`), 'utf8'))
await writeFile(path('LICENSE.txt'), (await Promise.all(licences)).join('\n---\n\n'))
await createVSIX({ cwd: path(''), packagePath: path('dist/baton.vsix'), dependencies: false, allowMissingRepository: true })
