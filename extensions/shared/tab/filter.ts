// Which lines and requests a person wants to see.

import { LEVELS, type Level, type Line, type Request } from './shown.ts'

/** Whether a line has the text somewhere, and is loud enough. */
export function fitsLine(line: Line, text: string, level: Level): boolean {
  return LEVELS.indexOf(line.level) >= LEVELS.indexOf(level) && has([line.text, line.place, line.stack], text)
}

/** Whether a request has the text somewhere. */
export function fitsRequest(request: Request, text: string): boolean {
  return has([request.method, request.status, request.type, request.address], text)
}

function has(texts: string[], wanted: string): boolean {
  const word = wanted.trim().toLowerCase()
  return word === '' || texts.some((text) => text.toLowerCase().includes(word))
}
