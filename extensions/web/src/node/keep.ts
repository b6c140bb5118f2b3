// The page's half of what opens the node, and the code with which it came: kept by this tab alone, and in no address. As
// whom it asks is no secret: the browser keeps that beside it until somebody signs out, so that an address which a stranger
// sent makes nobody somebody else unasked.

const VALUE = 'baton-page'
const OWNER = 'baton-owner'

/** What is kept here of who is signed in. */
export interface Kept {
  value: string | undefined
  owner: string | undefined
}

/** The value that this tab keeps, if it is signed in. */
export const keptValue = (): string | undefined => sessionStorage.getItem(VALUE) ?? undefined

/** Keeps a value; none forgets it, and as whom this tab asked. */
export function keepValue(value: string | undefined): void {
  if (value !== undefined) sessionStorage.setItem(VALUE, value)
  else for (const name of [VALUE, OWNER]) sessionStorage.removeItem(name)
}

/** As whom this tab asks, or who asked last in this browser, if that is known. */
export const keptOwner = (): string | undefined => sessionStorage.getItem(OWNER) ?? localStorage.getItem(OWNER) ?? undefined

/** Keeps as whom it asks; none forgets it. */
export function keepOwner(owner: string | undefined): void {
  for (const kept of [sessionStorage, localStorage]) {
    if (owner === undefined) kept.removeItem(OWNER)
    else kept.setItem(OWNER, owner)
  }
}

/** Whether this owner is somebody else than who is signed in here, or was; of somebody unknown it may be. */
export const isAnother = (kept: Kept, owner: string): boolean =>
  kept.owner === undefined ? kept.value !== undefined : kept.owner !== owner

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
