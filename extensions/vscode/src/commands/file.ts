// Files that only their owner may read.

import { rename, rm, writeFile } from 'node:fs/promises'

/** Written beside its place and renamed: a file is whole, or not there. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}.part`
  try {
    await writeFile(beside, text, { mode: 0o600, flag: 'wx' })
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}
