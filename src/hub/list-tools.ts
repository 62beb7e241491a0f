import type { Sight } from '../policy/visibility.ts'
import type { RegisteredTool } from '../steps/registered-tool.ts'
import type { ToolTable } from '../steps/tool-table.ts'

/** A tool as `list` shows it. */
export interface ToolListing {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly group: string
  readonly capabilities: readonly string[]
  readonly visible: boolean
  /** Why it is hidden. */
  readonly why?: string
}

/** All tools with what an agent sees of them, sorted by name. */
export function listTools(registry: ToolTable, sees: (tool: RegisteredTool) => Sight): ToolListing[] {
  return registry.list().map((entry) => {
    const { name, title, description } = entry.tool
    const { group, capabilityList: capabilities } = entry
    return { name, ...(title && { title }), description, group, capabilities, ...sees(entry) }
  })
}
