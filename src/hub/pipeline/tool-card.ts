import type { Capability } from '../../core/index.ts'
import type { RegisteredTool } from './registered-tool.ts'

/** A tool as a model provider wants it. */
export interface WireTool {
  /** The name that models call: letters, digits, `_` and `-`, at most 64. */
  readonly name: string
  /** When to use it, for the model. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Record<string, unknown>
}

/** A tool with everything that a door to the outside may show of it, under the name of one dialect. */
export interface ToolCard extends WireTool {
  /** Canonical. */
  readonly tool: string
  /** A short name for people; absent when the tool has none. */
  readonly title?: string
  /** What it declared to need; empty for a pure tool. */
  readonly capabilities: readonly Capability[]
  /** JSON Schema of `data`; none where another dialect shows it, or the tool does not say. */
  readonly output?: Record<string, unknown>
}

/** A tool under the name of a dialect, where it has that one. */
export function wireForm(entry: RegisteredTool, kind: string | undefined): WireTool {
  for (const { kind: own, dialect, input } of entry.dialects.values()) {
    if (own !== kind) continue
    const description = dialect.description ?? entry.tool.description
    return { name: dialect.name, description, parameters: (input ?? entry.input).jsonSchema() }
  }
  return { name: entry.wire, description: entry.tool.description, parameters: entry.input.jsonSchema() }
}

/** The same with all that a door to the outside may show. */
export function cardOf(entry: RegisteredTool, kind: string | undefined): ToolCard {
  const wire = wireForm(entry, kind)
  const { name: tool, title } = entry.tool
  return {
    ...wire,
    tool,
    ...(title !== undefined && { title }),
    capabilities: entry.capabilityList,
    ...(entry.output && { output: entry.output.jsonSchema() }),
  }
}
