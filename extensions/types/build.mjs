// Writes the types of the API from its document: for an extension that names schemas in `schemas.json`
// those and what they are made of, and once, for all that ask the API through a typed client, the whole
// document with its addresses. `node build.mjs [DOCUMENT]`

import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const HEAD = '// Made from docs/reference/openapi.json by `npm run build` in extensions/types. Do not edit.\n\n'
/** Who names schemas. */
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

/** The document with its addresses. The names of operations are not unique there, and nobody needs them. */
function whole(document) {
  const unnamed = ({ operationId, ...operation }) => operation
  const verbs = (path) => Object.fromEntries(Object.entries(path).map(([verb, operation]) => [verb, unnamed(operation)]))
  const paths = Object.entries(document.paths).map(([path, operations]) => [path, verbs(operations)])
  return { ...document, paths: Object.fromEntries(paths) }
}

const document = await read(process.argv[2] ?? '../docs/reference/openapi.json')
const write = async (path, part, options) => {
  const types = await openapiTS(part, options)
  await writeFile(new URL(path, folder), HEAD + astToString(types))
}
for (const user of USERS) await write(`${user}/src/api.ts`, only(document, await read(`${user}/schemas.json`)))
await write('shared/api.ts', whole(document), { defaultNonNullable: false })
