import type { AgentEntry } from '../../api/types.ts'

/** An agent in its place: so deep below the first one that is shown. */
export interface AgentRow {
  readonly agent: AgentEntry
  readonly depth: number
}

const DEEPEST = 20

/** Puts each below the one that began it, in the order given; one whose place is not known stands by itself. */
export function orderAsTree(agents: readonly AgentEntry[]): AgentRow[] {
  const known = new Set(agents.map(({ id }) => id))
  const children = new Map<string | undefined, AgentEntry[]>()
  for (const agent of agents) {
    const above = agent.parent !== agent.id && known.has(agent.parent ?? '') ? agent.parent : undefined
    children.set(above, [...(children.get(above) ?? []), agent])
  }
  const rows: AgentRow[] = []
  const place = (of: string | undefined, depth: number) => {
    for (const agent of children.get(of) ?? []) {
      rows.push({ agent, depth })
      if (depth < DEEPEST) place(agent.id, depth + 1)
    }
  }
  place(undefined, 0)
  const placed = new Set(rows.map(({ agent }) => agent.id))
  return [...rows, ...agents.filter(({ id }) => !placed.has(id)).map((agent) => ({ agent, depth: 0 }))]
}
