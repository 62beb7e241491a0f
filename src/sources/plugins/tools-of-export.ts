import type { AnyTool } from '../../define.ts'
import { type AgentTool, fromAgentTool } from '../../from-agent-tool.ts'

/** What only a plugin that is listed may have: it acts on calls of others, or must be set up and closed. */
const LISTED_ONLY = ['hooks', 'setup', 'close', 'required'] as const

/**
 * The tools that a module exports by default: a tool, an S3 AgentTool, a list of them, a plugin with nothing but tools,
 * or a function that gives one of these.
 */
export async function toolsOfExport(exported: unknown): Promise<readonly AnyTool[]> {
  if (exported === undefined) throw new Error('it has no default export.')
  const given: unknown = typeof exported === 'function' ? await exported({}) : exported
  if (Array.isArray(given)) return given.map(toTool)
  return isPlugin(given) ? toolsOfPlugin(given) : [toTool(given, 0)]
}

function toolsOfPlugin(plugin: Readonly<Record<string, unknown>>): readonly AnyTool[] {
  const listed = LISTED_ONLY.find((key) => plugin[key] !== undefined)
  if (listed !== undefined)
    throw new Error(`it is a plugin with ${listed}, not tools alone: list it under plugins: in tool-hub.yaml.`)
  const { tools = [] } = plugin
  if (!Array.isArray(tools)) throw new Error('its tools are no list.')
  return tools.map(toTool)
}

function toTool(value: unknown, index: number): AnyTool {
  const which = index > 0 ? ` (entry ${index + 1} of its list)` : ''
  if (!isObject(value) || typeof value.execute !== 'function' || typeof value.name !== 'string')
    throw new Error(`it exports neither a tool nor a list of tools: no name, or no execute function${which}.`)
  if ('input' in value) return value as unknown as AnyTool
  if ('parameters' in value) return fromAgentTool(value as unknown as AgentTool)
  throw new Error(`the tool ${value.name.slice(0, 64)} has neither input nor parameters, the schema of its arguments.`)
}

function isPlugin(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value) || 'execute' in value) return false
  return ['tools', ...LISTED_ONLY].some((key) => key in value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
