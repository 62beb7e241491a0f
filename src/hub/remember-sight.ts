import type { ToolNames } from '../policy/tool-groups.ts'
import type { Sight } from '../policy/visibility.ts'
import type { RegisteredTool } from '../steps/registered-tool.ts'

/** A tool is looked at once: its names never change. */
export function rememberSight(look: (tool: ToolNames) => Sight): (tool: RegisteredTool) => Sight {
  const seen = new WeakMap<RegisteredTool, Sight>()
  return (tool) => {
    const known = seen.get(tool)
    if (known) return known
    const sight = look({ name: tool.tool.name, names: tool.names, group: tool.group })
    seen.set(tool, sight)
    return sight
  }
}
