// Waits for what is to come, with a limit.

/** How long a test waits for anything, in milliseconds. */
export const LIMIT = 20_000

/** Waits until the condition holds, and returns what it says. */
export async function until<T>(what: string, condition: () => T | Promise<T>, limit = LIMIT): Promise<NonNullable<T>> {
  const end = Date.now() + limit
  for (;;) {
    const found = await condition()
    if (found) return found as NonNullable<T>
    if (Date.now() > end) throw new Error(`expected that ${what} within ${limit} ms, and it did not`)
    await new Promise((go) => setTimeout(go, 20))
  }
}
