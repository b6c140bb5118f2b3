// Files below a folder.

import { readdirSync, rmSync as remove } from 'node:fs'

/** The paths of all files below a folder whose name ends so, in order. */
export function globSync(folder, end) {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith(end))
    .sort()
    .map((name) => `${folder}/${name}`)
}

/** Removes a folder, if it is there. */
export function rmSync(folder) {
  remove(folder, { recursive: true, force: true })
}
