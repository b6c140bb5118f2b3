// Writes the types that an extension uses, from the document of the API: the schemas that it names
// in `schemas.json`, and those that they are made of. `node build.mjs [DOCUMENT]`

import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const HEAD = '// Made from docs/reference/openapi.json by `npm run build` in extensions/types. Do not edit.\n\n'
const USERS = ['chrome']

const folder = new URL('..', import.meta.url)
const read = async (path) => JSON.parse(await readFile(new URL(path, folder), 'utf8'))

/** The names of schemas that a part of the document refers to. */
function named(part) {
  if (typeof part !== 'object' || part === null) return []
  const own = typeof part.$ref === 'string' ? [part.$ref.split('/').at(-1)] : []
  return [...own, ...Object.values(part).flatMap(named)]
}

/** The document with these schemas alone. */
function only(document, roots) {
  const schemas = {}
  const open = [...roots]
  while (open.length > 0) {
    const name = open.pop()
    if (name in schemas) continue
    const schema = document.components.schemas[name]
    if (schema === undefined) throw new Error(`expected a schema ${name} in the document, found none`)
    schemas[name] = schema
    open.push(...named(schema))
  }
  const sorted = Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1))
  return { openapi: document.openapi, info: document.info, paths: {}, components: { schemas: Object.fromEntries(sorted) } }
}

const document = await read(process.argv[2] ?? '../docs/reference/openapi.json')
for (const user of USERS) {
  const roots = await read(`${user}/schemas.json`)
  const types = await openapiTS(only(document, roots))
  await writeFile(new URL(`${user}/src/api.ts`, folder), HEAD + astToString(types))
}
