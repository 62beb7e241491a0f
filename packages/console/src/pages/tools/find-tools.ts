import type { ToolEntry } from '../../api/types.ts'

/** Tools of one group. */
interface ToolGroup {
  readonly group: string
  readonly tools: readonly ToolEntry[]
}

interface ToolFilter {
  readonly text: string
  readonly withHidden: boolean
  /** What the service finds for the text, best first, by canonical name. Default: nothing yet. */
  readonly found?: readonly string[]
}

/**
 * The tools that the service finds, and those that contain every word of a search in their name, title, description, group
 * or capabilities, by group. Groups and tools that the service finds come first, in its order; the others follow by name.
 */
export function findTools(tools: readonly ToolEntry[], { text, withHidden, found = [] }: ToolFilter): ToolGroup[] {
  const ranks = new Map(found.map((name, rank) => [name, rank]))
  const rankOf = ({ tool }: ToolEntry) => ranks.get(tool) ?? found.length
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const groups = new Map<string, ToolEntry[]>()
  for (const tool of tools) {
    if (!tool.visible && !withHidden) continue
    const haystack = [tool.tool, tool.name, tool.title, tool.description, tool.group, ...tool.capabilities]
      .join('\n')
      .toLowerCase()
    if (!ranks.has(tool.tool) && !words.every((word) => haystack.includes(word))) continue
    const known = groups.get(tool.group)
    if (known) known.push(tool)
    else groups.set(tool.group, [tool])
  }
  const inOrder = (a: ToolEntry, b: ToolEntry) => rankOf(a) - rankOf(b) || (a.tool < b.tool ? -1 : 1)
  const sorted = [...groups].map(([group, members]) => ({ group, tools: members.sort(inOrder) }))
  const best = ({ tools: [first] }: ToolGroup) => (first ? rankOf(first) : found.length)
  return sorted.sort((a, b) => best(a) - best(b) || (a.group < b.group ? -1 : 1))
}

/** The address of a tool; keeps the search and the tab. */
export function toolPath(tool: string | undefined): string {
  const path = tool === undefined ? '/tools' : `/tools/${encodeURIComponent(tool)}`
  return `${path}${window.location.search}`
}
