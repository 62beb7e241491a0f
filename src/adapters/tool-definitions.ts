import type { AgentToolResult } from '../from-agent-tool.ts'
import type { Hub } from '../hub.ts'
import { type AgentToolOptions, toAgentTools } from './agent-tools.ts'

/** S3's form of a tool for an agent loop. */
export interface ToolDefinition {
  /** The name that the model calls. */
  readonly name: string
  /** A short name for people: the tool's title, or its name. */
  readonly label: string
  /** When to use it, for the model. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Record<string, unknown>
  /** Calls the tool through the hub; a failure is a result for the model, an aborted call rejects. */
  execute(
    toolCallId: string,
    params: unknown,
    onUpdate?: (update: AgentToolResult) => void,
    ctx?: unknown,
    signal?: AbortSignal,
  ): Promise<AgentToolResult>
}

/**
 * The visible tools in S3's form, every call down the governed road. An error becomes a result for the model, and is
 * told to `log`; an abort is thrown.
 * @example
 * const definitions = toToolDefinitions(hub, { log: console.error })
 */
export function toToolDefinitions(hub: Hub, options: AgentToolOptions = {}): ToolDefinition[] {
  return toAgentTools(hub, options).map(({ parameters, execute, ...facts }) => ({
    ...facts,
    parameters: parameters as Record<string, unknown>,
    execute: (toolCallId, params, onUpdate, _ctx, signal) => execute(toolCallId, params, signal, onUpdate),
  }))
}
