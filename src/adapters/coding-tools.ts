import type { AgentTool } from '../core/index.ts'
import type { Hub } from '../hub/index.ts'
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
  return withFilePath(codingTool(hub, 'read', options))
}

/** `write` of a hub as an AgentTool whose argument is `file_path`. */
export function createWriteTool(hub: Hub, options: CodingToolOptions = {}): CodingTool {
  return withFilePath(codingTool(hub, 'write', options))
}

/** `edit` of a hub as an AgentTool whose argument is `file_path`. */
export function createEditTool(hub: Hub, options: CodingToolOptions = {}): CodingTool {
  return withFilePath(codingTool(hub, 'edit', options))
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

function codingTool(hub: Hub, name: string, options: CodingToolOptions): CodingTool {
  const [tool] = toAgentTools(hub, { ...options, dialect: 'coding', names: [name] })
  return tool!
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
