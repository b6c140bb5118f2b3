// Elements whose name is a secret's: `<password>value</password>`.

import { isSecret } from './names.ts'
import { putOut } from './put_out.ts'
import { type Range, run } from './value.ts'

/** The longest name of an element, and the longest rest of its tag. */
const MAX_NAME = 64
const MAX_TAG = 512

/** The text without what stands in such elements. */
export function hideElements(text: string): string {
  const hidden: Range[] = []
  let from = 0
  for (;;) {
    const at = text.indexOf('<', from)
    if (at < 0) return putOut(text, hidden)
    from = at + 1
    const content = contentOf(text, from)
    if (content === undefined || text.slice(content.start, content.end).trim() === '') continue
    from = content.end
    hidden.push(content)
  }
}

/** The content of the element whose name begins here, if it is a secret's. */
function contentOf(text: string, start: number): Range | undefined {
  const length = run(text, start, MAX_NAME, (c) => /[A-Za-z0-9_\-.:]/.test(c))
  const name = text.slice(start, start + length)
  const local = name.slice(name.lastIndexOf(':') + 1)
  if (local === '' || !isSecret(local)) return undefined
  const rest = text.slice(start + length, start + length + MAX_TAG).indexOf('>')
  if (rest < 0) return undefined
  const content = start + length + rest + 1
  const end = text.indexOf('<', content)
  return { start: content, end: end < 0 ? text.length : end }
}
