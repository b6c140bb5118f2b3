// Numbers and addresses, as people say them.

/** A number with its noun. */
export function count(number: number, noun: string, many = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : many}`
}

/** The host of an address, or the address where it has none. */
export function host(url: string): string {
  try {
    return new URL(url).host || url
  } catch {
    return url
  }
}
