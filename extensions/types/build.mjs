// Writes the types that an extension uses, from the document of the API: the schemas that it names
// in `schemas.json` and those that they are made of, or all of the document with its addresses where
// the extension asks the API through a typed client. `node build.mjs [DOCUMENT]`

import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const HEAD = '// Made from docs/reference/openapi.json by `npm run build` in extensions/types. Do not edit.\n\n'
/** Who names schemas, and who asks the API itself. */
const USERS = ['chrome']
const CLIENTS = ['vscode', 'web']

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
const write = async (user, part, options) => {
  const types = await openapiTS(part, options)
  await writeFile(new URL(`${user}/src/api.ts`, folder), HEAD + astToString(types))
}
for (const user of USERS) await write(user, only(document, await read(`${user}/schemas.json`)))
for (const user of CLIENTS) await write(user, whole(document), { defaultNonNullable: false })
