// Names as the node wants them, so that a person hears of a mistake while typing.

const WANTED = 'expected 1 to 64 letters, digits, "-", "_" or "."'

/** What is wrong with a session's name; an empty one is that of the file. */
export function checkName(name: string): string | undefined {
  return name.trim() === '' || /^[\p{L}\p{N}._-]{1,64}$/u.test(name.trim()) ? undefined : WANTED
}

/** What is wrong with an agent's name. */
export function checkAgent(name: string): string | undefined {
  return /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/.test(name) ? undefined : WANTED
}
