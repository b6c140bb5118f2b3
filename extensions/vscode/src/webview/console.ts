// The console: lines, the level from which on they are shown, and a text that they must have.

import { fitsLine } from '../../../shared/tab/filter.ts'
import type { Change } from '../../../shared/tab/list.ts'
import { LEVEL_WORDS, LEVELS, type Level, type Line, shortPlace } from '../../../shared/tab/shown.ts'
import { byId, element } from './dom.ts'
import { Rows } from './rows.ts'

/** What a person chose. */
export interface ConsoleChoice {
  text: string
  level: Level
}

/** Puts the console together; `chosen` hears of each choice. */
export function showConsole(choice: ConsoleChoice, chosen: (choice: ConsoleChoice) => void): (change: Change<Line>) => void {
  const text = byId('line-filter', HTMLInputElement)
  const level = byId('level', HTMLSelectElement)
  level.append(...LEVELS.map((name) => new Option(LEVEL_WORDS[name], name, false, name === choice.level)))
  text.value = choice.text
  let current = choice
  const rows = new Rows<Line>(byId('lines', HTMLElement), byId('lines-missing', HTMLElement), lineRow, (line) =>
    fitsLine(line, current.text, current.level),
  )
  const choose = () => {
    current = { text: text.value, level: LEVELS.find((name) => name === level.value) ?? 'debug' }
    rows.filter()
    chosen(current)
  }
  text.addEventListener('input', choose)
  level.addEventListener('change', choose)
  return (change) => rows.take(change)
}

function lineRow(line: Line): HTMLElement {
  const time = element('time', 'time', new Date(line.at).toLocaleTimeString(undefined, { hour12: false }))
  const level = element('span', 'level', line.level)
  const text = element('span', 'text', line.text)
  const place = element('span', 'place', shortPlace(line.place))
  place.title = line.place
  if (line.stack === '') return element('div', `line ${line.level}`, time, level, text, place)
  const head = element('summary', `line ${line.level}`, time, level, text, place)
  return element('details', '', head, element('pre', 'stack', line.stack))
}
