import type { ToolEntry } from '../../api/types.ts'

/** Tools of one group. */
interface ToolGroup {
  readonly group: string
  readonly tools: readonly ToolEntry[]
}

interface ToolFilter {
  readonly text: string
  readonly withHidden: boolean
}

/** The tools that contain every word of a search in their name, title, description, group or capabilities, by group. */
export function findTools(tools: readonly ToolEntry[], { text, withHidden }: ToolFilter): ToolGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const groups = new Map<string, ToolEntry[]>()
  for (const tool of tools) {
    if (!tool.visible && !withHidden) continue
    const haystack = [tool.tool, tool.name, tool.title, tool.description, tool.group, ...tool.capabilities]
      .join('\n')
      .toLowerCase()
    if (!words.every((word) => haystack.includes(word))) continue
    const known = groups.get(tool.group)
    if (known) known.push(tool)
    else groups.set(tool.group, [tool])
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, found]) => ({ group, tools: found.sort((a, b) => (a.tool < b.tool ? -1 : 1)) }))
}

/** The address of a tool; keeps the search and the tab. */
export function toolPath(tool: string | undefined): string {
  const path = tool === undefined ? '/tools' : `/tools/${encodeURIComponent(tool)}`
  return `${path}${window.location.search}`
}
