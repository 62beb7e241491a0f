import type { ToolKind } from '../core/index.ts'
import type { ToolVisibility } from '../policy/index.ts'
import type { RegisteredTool } from './pipeline/registered-tool.ts'
import type { ToolTable } from './pipeline/tool-table.ts'

/** A tool as `list` shows it. */
export interface ToolListing {
  /** Canonical name. */
  readonly name: string
  /** A short name for people; absent when the tool has none. */
  readonly title?: string
  /** When to use it, for the model. */
  readonly description: string
  /** The form that it came in: `core`, `langchain`, `skill` and others. */
  readonly kind: ToolKind
  /** Its group, `group:<name>` in rules. */
  readonly group: string
  /** What it declared to need; empty for a pure tool. */
  readonly capabilities: readonly string[]
  /** Whether an agent sees it. */
  readonly visible: boolean
  /** Why it is hidden. */
  readonly why?: string
}

/** All tools with what an agent sees of them, sorted by name. */
export function listTools(registry: ToolTable, sees: (tool: RegisteredTool) => ToolVisibility): ToolListing[] {
  return registry.list().map((entry) => {
    const { name, title, description } = entry.tool
    const { kind, group, capabilityList: capabilities } = entry
    return { name, ...(title && { title }), description, kind, group, capabilities, ...sees(entry) }
  })
}
