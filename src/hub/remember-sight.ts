import type { ToolNames, ToolVisibility } from '../policy/index.ts'
import type { RegisteredTool } from './pipeline/registered-tool.ts'

/** A tool is looked at once: its names never change. */
export function rememberSight(look: (tool: ToolNames) => ToolVisibility): (tool: RegisteredTool) => ToolVisibility {
  const seen = new WeakMap<RegisteredTool, ToolVisibility>()
  return (tool) => {
    const known = seen.get(tool)
    if (known) return known
    const sight = look({ name: tool.tool.name, names: tool.names, group: tool.group })
    seen.set(tool, sight)
    return sight
  }
}
