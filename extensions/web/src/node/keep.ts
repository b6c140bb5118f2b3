// The page's half of what opens the node, and the code with which it came: kept by this tab alone, and in no address.

const VALUE = 'baton-page'

/** The value that this tab keeps, if it is signed in. */
export const keptValue = (): string | undefined => sessionStorage.getItem(VALUE) ?? undefined

/** Keeps a value; none forgets it. */
export function keepValue(value: string | undefined): void {
  if (value === undefined) sessionStorage.removeItem(VALUE)
  else sessionStorage.setItem(VALUE, value)
}

/** The code behind `#`, which is taken out of the address, and so out of the history, at once. */
export function takeCode(): string | undefined {
  const code = codeIn(location.hash)
  if (code !== undefined) history.replaceState(null, '', '/')
  return code
}

/** The code in what stands behind `#`. */
export function codeIn(hash: string): string | undefined {
  return /^#code=([A-Za-z0-9_-]{16,})$/.exec(hash)?.[1]
}
