// Fetches what shows displays, once.

type Module = typeof import('./display.ts')

let loaded: Promise<Module> | undefined

/** What shows displays. */
export function loadDisplays(): Promise<Module> {
  // The bundler leaves the address as it is: the node serves it beside the page.
  const address: string = '/page/display.js'
  loaded ??= import(address) as Promise<Module>
  loaded.catch(() => {
    loaded = undefined
  })
  return loaded
}
