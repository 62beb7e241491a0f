import type { ToolNames } from '../policy/tool-groups.ts'
import type { Sight } from '../policy/visibility.ts'
import type { RegisteredTool } from '../steps/registered-tool.ts'

/** What one sees: none of the tools that belong to somebody else, and of the others those that the look shows. */
export function lookAs(
  principal: string | undefined,
  look: (tool: ToolNames) => Sight,
): (tool: RegisteredTool) => Sight {
  // A tool is looked at once: its names never change.
  const seen = new WeakMap<RegisteredTool, Sight>()
  return (tool) => {
    const known = seen.get(tool)
    if (known) return known
    const isOthers = tool.principal !== undefined && tool.principal !== principal
    const sight = isOthers ? OTHERS : look({ name: tool.tool.name, names: tool.names, group: tool.group })
    seen.set(tool, sight)
    return sight
  }
}

const OTHERS: Sight = Object.freeze({ visible: false, why: 'it belongs to the client of somebody else.' })
