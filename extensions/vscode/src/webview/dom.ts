// Elements of the page. What is shown is always a text, never markup.

/** An element of the page that must be there. */
export function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`expected ${kind.name} #${id} in the page, found ${found?.tagName ?? 'none'}`)
  return found
}

/** A new element with a class and a text, or with others in it. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name: string,
  ...content: (string | HTMLElement)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  if (name !== '') made.className = name
  made.append(...content)
  return made
}

/** Shows a text, or nothing at all. */
export function showText(place: HTMLElement, text: string): void {
  if (place.textContent !== text) place.textContent = text
  place.hidden = text === ''
}
