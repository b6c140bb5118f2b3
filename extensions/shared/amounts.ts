// Ages, sizes and durations, as people say them: in the extension for VS Code and in the page alike.

const STEPS: [number, string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
]

/** How long ago something was. */
export function age(at: string | null | undefined, now: number): string {
  const then = at == null ? Number.NaN : Date.parse(at)
  if (Number.isNaN(then)) return 'never'
  const seconds = Math.max(0, (now - then) / 1000)
  const step = STEPS.find(([length]) => seconds >= length)
  return step === undefined ? 'just now' : `${Math.floor(seconds / step[0])} ${step[1]} ago`
}

/** How long until something is. */
export function until(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000
  if (Number.isNaN(seconds)) return 'some time'
  if (seconds <= 0) return 'now'
  const step = STEPS.find(([length]) => seconds >= length)
  return step === undefined ? 'in less than a minute' : `in ${Math.floor(seconds / step[0])} ${step[1]}`
}

/** How large something is. */
export function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB']
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

/** How long something took. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
}
