// Segments of a way behind the name of a secret: `/reset-token/…`.

import { isRandom } from './look.ts'
import { isSecret } from './names.ts'
import { putOut } from './put_out.ts'
import type { Range } from './value.ts'

/** The longest name. */
const MAX_NAME = 64
const SEGMENT = /[A-Za-z0-9_\-.~+=%]*/y
const NAME = /[A-Za-z0-9_\-.~+=%]*$/

/** The text without such segments, where they look like secrets: `/token/new` is none. */
export function hideSegments(text: string): string {
  const hidden: Range[] = []
  for (let at = text.indexOf('/'); at >= 0; at = text.indexOf('/', at + 1)) {
    SEGMENT.lastIndex = at + 1
    const segment = SEGMENT.exec(text)?.[0] ?? ''
    if (!isRandom(segment)) continue
    const name = NAME.exec(text.slice(Math.max(0, at - MAX_NAME), at))?.[0] ?? ''
    if (isSecret(name)) hidden.push({ start: at + 1, end: at + 1 + segment.length })
  }
  return putOut(text, hidden)
}
