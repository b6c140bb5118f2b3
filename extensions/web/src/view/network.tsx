// The requests of a tab: found by a text, and all of the chosen one beside them.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Details, Fact, Section } from '../../../shared/tab/details.ts'
import { fitsRequest } from '../../../shared/tab/filter.ts'
import { nameAndHost, type Request } from '../../../shared/tab/shown.ts'
import { notice } from '../acts.ts'
import type { Look } from '../look/look.ts'
import { Bar, Following, Missing, Pane } from './followed.tsx'

/** The list. */
export function Network({ look }: { look: Look }) {
  const { items, missing } = look.requests.rows.value
  const [text, setText] = useState('')
  const [onlyFailed, setOnlyFailed] = useState(false)
  const [chosen, setChosen] = useState<number | undefined>(undefined)
  const shown = useMemo(
    () => items.filter((one) => fitsRequest(one, text) && (!onlyFailed || one.end === 'bad')),
    [items, text, onlyFailed],
  )
  const request = items.find((one) => one.key === chosen)
  return (
    <>
      <Bar text={text} setText={setText} label="Filter requests by text" onClear={() => look.requests.clear()}>
        <label class="check">
          <input type="checkbox" checked={onlyFailed} onChange={(event) => setOnlyFailed(event.currentTarget.checked)} /> Failed
          only
        </label>
      </Bar>
      <Missing text={missing} />
      <div class="beside">
        <Following
          items={shown}
          label="Requests"
          nothing={items.length === 0 ? 'No request came yet.' : 'No request fits.'}
          row={(one) => (
            <Row request={one} isChosen={one.key === chosen} choose={() => setChosen(one.key === chosen ? undefined : one.key)} />
          )}
        />
        {request !== undefined && <Chosen look={look} request={request} onClose={() => setChosen(undefined)} />}
      </div>
    </>
  )
}

function Row({ request, isChosen, choose }: { request: Request; isChosen: boolean; choose: () => void }) {
  const [name, host] = nameAndHost(request.address)
  return (
    <button
      type="button"
      class={`told request ${request.end}`}
      aria-pressed={isChosen}
      data-key={request.key}
      title={request.address}
      onClick={choose}
    >
      <span class="method">{request.method}</span>
      <span class="where">
        <span class="first">{name}</span>
        <span class="second">{host}</span>
      </span>
      <span class="status">{request.status}</span>
      <span class="type">{request.type}</span>
      <span class="size">{request.size}</span>
      <span class="took">{request.duration}</span>
    </button>
  )
}

/** All of one request, asked for again when something of it is new. */
function Chosen({ look, request, onClose }: { look: Look; request: Request; onClose: () => void }) {
  const [details, setDetails] = useState<Details | undefined>(undefined)
  useEffect(() => {
    let isWanted = true
    void look.details(request.key).then((found) => {
      if (isWanted) setDetails(found)
    })
    return () => {
      isWanted = false
    }
  }, [look, request])
  const copy = () => {
    const done = navigator.clipboard.writeText(request.address)
    done.then(
      () => (notice.value = { words: 'The address is in the clipboard', failed: false }),
      () => (notice.value = { words: 'The browser does not let the page write to the clipboard', failed: true }),
    )
  }
  // Without TLS a browser has a clipboard for pages of this machine alone.
  const canCopy = 'clipboard' in navigator && navigator.clipboard !== undefined
  return (
    <Pane
      label="The chosen request"
      title={`Request ${request.key}`}
      isBusy={details?.key !== request.key}
      acts={
        canCopy && (
          <button type="button" onClick={copy}>
            Copy the address
          </button>
        )
      }
      onClose={onClose}
    >
      {details?.key === request.key && (
        <>
          <Facts facts={details.facts} />
          {details.sections.map((section) => (
            <Part key={section.title} section={section} />
          ))}
        </>
      )}
    </Pane>
  )
}

function Part({ section: { title, facts, text } }: { section: Section }) {
  return (
    <details open={facts.length <= 20}>
      <summary>{title}</summary>
      {facts.length > 0 ? <Facts facts={facts} /> : <pre>{text}</pre>}
    </details>
  )
}

function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl>
      {facts.map(({ name, value }, index) => (
        <div key={`${index} ${name}`}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
