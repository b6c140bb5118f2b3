// What a person does with a session, each under way at most once: its answer, or why there is none.

import { signal } from '@preact/signals'
import { files, views } from './asked.ts'
import { heard, node } from './hub.ts'
import { ask, type Schemas } from './node/client.ts'
import { Failure, failureOf } from './node/failure.ts'
import { handed } from './words/drivers.ts'
import { checkFile } from './words/files.ts'

/** What is done, as a heading says it. */
export type Verb = 'Resume' | 'Capture' | 'Close' | 'Hand over' | 'Roll back' | 'Export' | 'Delete'

/** What is under way with a session. */
export interface Doing {
  verb: Verb
  since: number
}

/** What came of what was done last. */
export type Outcome =
  | { is: 'done'; verb: Verb; words: string; resumed?: Schemas['ResumeResult'] }
  | { is: 'failed'; verb: Verb; failure: Failure }

export const doing = signal<ReadonlyMap<string, Doing>>(new Map())
export const outcomes = signal<ReadonlyMap<string, Outcome>>(new Map())
/** From which agents sessions were taken in this page: who gets one back is often one of them. */
export const formerDrivers = new Set<string>()
/** What is said to a reader of the screen, and to everybody at the foot of the page. */
export const notice = signal<{ words: string; failed: boolean } | undefined>(undefined)

function changed<T>(map: ReadonlyMap<string, T>, id: string, value: T | undefined): ReadonlyMap<string, T> {
  const next = new Map(map)
  if (value === undefined) next.delete(id)
  else next.set(id, value)
  return next
}

/** Takes what came of it from the screen. */
export function dismiss(id: string): void {
  outcomes.value = changed(outcomes.value, id, undefined)
}

/** Forgets what was done. */
export function forgetActs(): void {
  outcomes.value = new Map()
  notice.value = undefined
  formerDrivers.clear()
}

async function act(id: string, name: string, verb: Verb, work: () => Promise<Omit<Outcome & { is: 'done' }, 'is' | 'verb'>>) {
  if (doing.value.has(id)) return
  doing.value = changed(doing.value, id, { verb, since: Date.now() })
  outcomes.value = changed(outcomes.value, id, undefined)
  try {
    const done = await work()
    outcomes.value = changed(outcomes.value, id, { is: 'done', verb, ...done })
    notice.value = { words: `${name}: ${done.words}`, failed: false }
  } catch (error) {
    const failure = heard(error)
    outcomes.value = changed(outcomes.value, id, { is: 'failed', verb, failure })
    notice.value = { words: `${name}: ${failure.message}`, failed: true }
  }
  doing.value = changed(doing.value, id, undefined)
}

type Named = { id: string; name: string }

const on = (id: string) => ({ params: { path: { id } } })

function resumed(result: Schemas['ResumeResult']): { words: string; resumed: Schemas['ResumeResult'] } {
  views.put(result.id, result)
  const { restored = 0, rejected = 0, not_portable = 0 } = result.receipt ?? {}
  const lost = rejected + not_portable
  const words = `back, ${restored} restored${lost > 0 ? `, ${lost} not` : ''}`
  return { words, resumed: result }
}

export const resume = ({ id, name }: Named) =>
  act(id, name, 'Resume', async () => resumed(await ask(node().patient.POST('/sessions/{id}/resume', on(id)))))

export const rollBack = ({ id, name }: Named, to: string) =>
  act(id, name, 'Roll back', async () =>
    resumed(await ask(node().patient.POST('/sessions/{id}/rollback', { ...on(id), body: { to } }))),
  )

export const capture = ({ id, name }: Named) =>
  act(id, name, 'Capture', async () => {
    const { parts } = await ask(node().patient.POST('/sessions/{id}/capture', on(id)))
    return { words: `captured, ${parts} parts on disk` }
  })

export const close = ({ id, name }: Named) =>
  act(id, name, 'Close', async () => {
    views.put(id, await ask(node().patient.POST('/sessions/{id}/close', on(id))))
    return { words: 'captured and closed' }
  })

/** Hands it to an agent or to nobody; `from` is the agent that it is taken from, if it is. */
export const handOver = ({ id, name }: Named, body: Schemas['PassSession'], from: string | undefined) =>
  act(id, name, 'Hand over', async () => {
    const view = await ask(node().patient.POST('/sessions/{id}/pass', { ...on(id), body }))
    views.put(id, view)
    if (from !== undefined) formerDrivers.add(from)
    return { words: handed(view.agent?.agent) }
  })

export const remove = ({ id, name }: Named) =>
  act(id, name, 'Delete', async () => {
    await ask(node().patient.DELETE('/sessions/{id}', on(id)))
    return { words: 'deleted' }
  })

export const exportAs = ({ id, name }: Named, format: Schemas['ExportFormat']) =>
  act(id, name, 'Export', async () => {
    const query = { format }
    const view = await ask(node().patient.GET('/sessions/{id}/export', { params: { path: { id }, query } }))
    const end = format === 'session' ? 'baton' : 'storage-state'
    save(new Blob([JSON.stringify(view.file)], { type: 'application/json' }), `${name}.${end}.json`)
    return { words: 'exported; whoever has the file is signed in' }
  })

/** Gives a file to the person. */
function save(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** Records from now on what the tabs of a session do. */
export async function record({ id, name }: Named): Promise<void> {
  try {
    views.put(id, await ask(node().patient.POST('/sessions/{id}/debug', { ...on(id), body: { on: true } })))
    notice.value = { words: `${name}: what its tabs do is recorded from now on`, failed: false }
  } catch (error) {
    notice.value = { words: heard(error).message, failed: true }
  }
}

/** Gives what is kept of a tab to the person, as an HTTP Archive: its secrets are hidden. */
export async function getArchive({ name }: Named, token: string): Promise<void> {
  try {
    const archive = await ask(node().patient.GET('/debug/tabs/{token}/har', { params: { path: { token } } }))
    save(new Blob([JSON.stringify(archive, null, 2)], { type: 'application/json' }), `${name}.har`)
  } catch (error) {
    notice.value = { words: heard(error).message, failed: true }
  }
}

/** Gives a file of a session to the person. */
export async function getFile({ id }: Named, name: string): Promise<void> {
  try {
    const how = { params: { path: { id, name } }, parseAs: 'blob' } as const
    save((await ask<unknown>(node().patient.GET('/sessions/{id}/files/{name}', how))) as Blob, name)
  } catch (error) {
    notice.value = { words: heard(error).message, failed: true }
  }
}

/** Puts a file among those of a session, and says what became of it. */
export async function putFile(session: Named, file: File): Promise<void> {
  try {
    await sendFile(session, file)
  } catch (error) {
    notice.value = { words: failureOf(error).message, failed: true }
  }
}

/** Puts a file among those of a session; throws why it is not there. */
export async function sendFile({ id }: Named, file: File): Promise<void> {
  const wrong = checkFile(file)
  if (wrong !== undefined) throw new Failure('file', wrong)
  try {
    const how = {
      params: { path: { id, name: file.name } },
      body: file as never,
      bodySerializer: (body: unknown) => body as Blob,
    }
    const headers = { 'Content-Type': 'application/octet-stream' }
    await ask(node().patient.PUT('/sessions/{id}/files/{name}', { ...how, headers }))
    files.put(id, await ask(node().api.GET('/sessions/{id}/files', on(id))))
    notice.value = { words: `${file.name} is among the session's files`, failed: false }
  } catch (error) {
    throw heard(error)
  }
}

/** Opens a session in a browser of its own; its id. */
export async function open(request: Schemas['OpenSession']): Promise<string> {
  const view = await ask(node().patient.POST('/sessions', { body: request }))
  views.put(view.id, view)
  return view.id
}

/** Makes a session of a file; its id, and how much of the file was left out. */
export async function importText(text: string): Promise<{ id: string; name: string; leftOut: number }> {
  const body = { file: fileOf(text) }
  const view = await ask(node().patient.POST('/sessions/import', { body: body as Schemas['ImportSession'] }))
  const { rejected, not_portable } = view.left_out
  return { id: view.id, name: view.name, leftOut: rejected + not_portable }
}

/** The document in a file: JSON, or else the text of a `cookies.txt`. */
export function fileOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
