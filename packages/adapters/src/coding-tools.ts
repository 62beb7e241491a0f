import type { AgentTool } from '@tool-hub/core'
import type { Hub } from '@tool-hub/runtime/hub'
import { type AgentToolOptions, toAgentTools } from './agent-tools.ts'

/** Options of a coding tool; names are those of the coding dialect. */
export type CodingToolOptions = Omit<AgentToolOptions, 'dialect' | 'names'>

type CodingTool = AgentTool & { readonly label: string }

/**
 * `read` of a hub as an AgentTool whose argument is `file_path`.
 * @example
 * const tools = [createReadTool(hub), createWriteTool(hub), createEditTool(hub), createExecTool(hub)]
 */
export function createReadTool(hub: Hub, options: CodingToolOptions = {}): CodingTool {
  return codingTool(hub, 'read', options)
}

/** `write` of a hub as an AgentTool whose argument is `file_path`. */
export function createWriteTool(hub: Hub, options: CodingToolOptions = {}): CodingTool {
  return codingTool(hub, 'write', options)
}

/** `edit` of a hub as an AgentTool whose argument is `file_path`. */
export function createEditTool(hub: Hub, options: CodingToolOptions = {}): CodingTool {
  return codingTool(hub, 'edit', options)
}

/** `apply_patch` of a hub as an AgentTool. */
export function createApplyPatchTool(hub: Hub, options: CodingToolOptions = {}): CodingTool {
  return codingTool(hub, 'apply_patch', options)
}

/** `exec` of a hub as an AgentTool. */
export function createExecTool(hub: Hub, options: CodingToolOptions = {}): CodingTool {
  return codingTool(hub, 'exec', options)
}

/** `process` of a hub as an AgentTool. */
export function createProcessTool(hub: Hub, options: CodingToolOptions = {}): CodingTool {
  return codingTool(hub, 'process', options)
}

/**
 * All coding tools of a hub that are visible, as AgentTools: `read`, `write`, `edit`, `apply_patch`, `exec`, `process`.
 * @example
 * const definitions = toToolDefinitions(createCodingTools(hub))
 */
export function createCodingTools(hub: Hub, options: CodingToolOptions = {}): readonly CodingTool[] {
  const visible = new Set(hub.cards({ dialect: 'coding' }).map(({ name }) => name))
  return codingTools(
    hub,
    CODING_TOOLS.filter((name) => visible.has(name)),
    options,
  )
}

const CODING_TOOLS = ['read', 'write', 'edit', 'apply_patch', 'exec', 'process']
const FILE_TOOLS = new Set(['read', 'write', 'edit'])

function codingTool(hub: Hub, name: string, options: CodingToolOptions): CodingTool {
  return codingTools(hub, [name], options)[0]!
}

function codingTools(hub: Hub, names: readonly string[], options: CodingToolOptions): readonly CodingTool[] {
  return toAgentTools(hub, { ...options, dialect: 'coding', names }).map((tool) =>
    FILE_TOOLS.has(tool.name) ? withFilePath(tool) : tool,
  )
}

/** The dialect accepts `file_path` for `path`; here the model also sees it that way. */
function withFilePath(tool: CodingTool): CodingTool {
  const {
    properties = {},
    required = [],
    ...schema
  } = tool.parameters as {
    readonly properties?: Readonly<Record<string, unknown>>
    readonly required?: readonly string[]
  }
  const rename = (key: string) => (key === 'path' ? 'file_path' : key)
  return {
    ...tool,
    parameters: {
      ...schema,
      properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [rename(key), value])),
      required: required.map(rename),
    } as object,
  }
}
