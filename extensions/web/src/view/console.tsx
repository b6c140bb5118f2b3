// The lines of a tab's console: from a level on, found by a text, and the chosen one whole beside them.

import { useMemo, useState } from 'preact/hooks'
import { fitsLine } from '../../../shared/tab/filter.ts'
import { LEVEL_WORDS, LEVELS, type Level, type Line, shortPlace } from '../../../shared/tab/shown.ts'
import type { Look } from '../look/look.ts'
import { Bar, Following, Missing, Pane } from './followed.tsx'

/** The list. */
export function Console({ look }: { look: Look }) {
  const { items, missing } = look.lines.rows.value
  const [text, setText] = useState('')
  const [level, setLevel] = useState<Level>('debug')
  const [chosen, setChosen] = useState<number | undefined>(undefined)
  const shown = useMemo(() => items.filter((line) => fitsLine(line, text, level)), [items, text, level])
  const line = items.find((one) => one.key === chosen)
  return (
    <>
      <Bar text={text} setText={setText} label="Filter the console by text" onClear={() => look.lines.clear()}>
        <select
          aria-label="From which level on"
          value={level}
          onChange={(event) => setLevel(LEVELS.find((one) => one === event.currentTarget.value) ?? 'debug')}
        >
          {LEVELS.map((one) => (
            <option key={one} value={one}>
              {LEVEL_WORDS[one]}
            </option>
          ))}
        </select>
      </Bar>
      <Missing text={missing} />
      <div class="beside">
        <Following
          items={shown}
          label="Lines of the console"
          nothing={items.length === 0 ? 'No line came yet.' : 'No line fits.'}
          row={(one) => (
            <Row line={one} isChosen={one.key === chosen} choose={() => setChosen(one.key === chosen ? undefined : one.key)} />
          )}
        />
        {line !== undefined && <Whole line={line} onClose={() => setChosen(undefined)} />}
      </div>
    </>
  )
}

const timeOf = (at: number) => new Date(at).toLocaleTimeString(undefined, { hour12: false })

function Row({ line, isChosen, choose }: { line: Line; isChosen: boolean; choose: () => void }) {
  return (
    <button type="button" class={`told line-of ${line.level}`} aria-pressed={isChosen} data-key={line.key} onClick={choose}>
      <span class="level">{line.level}</span>
      <span class="text">{line.text}</span>
      <span class="at">
        <span class="first">{timeOf(line.at)}</span>
        <span class="second">{shortPlace(line.place)}</span>
      </span>
    </button>
  )
}

function Whole({ line, onClose }: { line: Line; onClose: () => void }) {
  return (
    <Pane label="The chosen line" title={`${line.level}, ${timeOf(line.at)}`} onClose={onClose}>
      <pre>{line.text}</pre>
      {line.place !== '' && <p class="hint">{line.place}</p>}
      {line.stack !== '' && <pre>{line.stack}</pre>}
    </Pane>
  )
}
