// The board that agents share: other programs write it too, so only what has the right form is taken of it.

/** An agent of the board. */
export interface Agent {
  name: string
  status: string
  task: string | undefined
  seen: string | undefined
  /** It was not seen for a while. */
  gone: boolean
}

/** A task of the board. */
export interface Task {
  id: string
  description: string
  status: string
  assigned: string | undefined
}

/** What is shown of a board. */
export interface Board {
  sprint: string | undefined
  agents: Agent[]
  tasks: Task[]
}

/** How many agents and tasks are shown. */
const MOST = 500

/** Reads what a node says of the board. */
export function readBoard(found: unknown): Board | undefined {
  if (!isRecord(found)) return undefined
  const gone = new Set(Array.isArray(found.gone) ? found.gone : [])
  const agents = isRecord(found.agents) ? Object.entries(found.agents) : []
  const tasks = Array.isArray(found.tasks) ? found.tasks : []
  return {
    sprint: text(found.sprint),
    agents: agents.slice(0, MOST).map(([name, agent]) => readAgent(name, agent, gone.has(name))),
    tasks: tasks.slice(-MOST).flatMap(readTask),
  }
}

/** The agents that are at work now. */
export function activeAgents(board: Board | undefined): Agent[] {
  return (board?.agents ?? []).filter((agent) => !agent.gone && agent.status === 'active')
}

function readAgent(name: string, found: unknown, gone: boolean): Agent {
  const agent = isRecord(found) ? found : {}
  return {
    name,
    status: text(agent.status) ?? 'unknown',
    task: text(agent.current_task),
    seen: text(agent.last_seen),
    gone,
  }
}

function readTask(found: unknown): Task[] {
  if (!isRecord(found)) return []
  const { id, description, status, assigned_to: assigned } = found
  if (typeof id !== 'string') return []
  return [{ id, description: text(description) ?? '', status: text(status) ?? 'unknown', assigned: text(assigned) }]
}

function isRecord(found: unknown): found is Record<string, unknown> {
  return typeof found === 'object' && found !== null && !Array.isArray(found)
}

function text(found: unknown): string | undefined {
  return typeof found === 'string' && found !== '' ? found : undefined
}
