// Which rows of a list are on the screen.

/** How much is made ahead on both sides, in parts of the screen. */
const AHEAD = 0.75

/** The first row in sight and the one behind the last, of rows of this size, where the screen begins `from` behind the
 * beginning of the list and is so large; with those made ahead, or with so many screens of them. */
export function inSight(rows: number, size: number, from: number, room: number, ahead = AHEAD): [number, number] {
  const first = Math.floor((from - room * ahead) / size)
  const end = Math.ceil((from + room * (1 + ahead)) / size)
  const clamp = (row: number) => Math.min(rows, Math.max(0, row))
  return [clamp(first), clamp(end)]
}
