import { type AgentTool, type AgentToolResult, type ClientToolDefinition, jsonResult, messageOf } from '@tool-hub/core'
import type { Hub } from '@tool-hub/runtime/hub'
import { type AgentToolOptions, logToStandardError, pendingResult, toAgentTools } from './agent-tools.ts'
import { NO_ARGUMENTS } from './from/define-form.ts'

/** A tool as a definition for an agent loop. */
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
 * Converts tools to definitions for an agent loop: those of a hub, or AgentTools such as `toAgentTools(hub)` and
 * `createReadTool(hub)` return. An error becomes a result for the model and is reported to `log`, by default to
 * standard error; an abort is thrown.
 * Only tools of a hub are governed.
 * @example
 * const definitions = toToolDefinitions(hub, { log: console.warn })
 */
export function toToolDefinitions(tools: Hub | readonly AgentTool[], options: AgentToolOptions = {}): ToolDefinition[] {
  return isList(tools)
    ? tools.map((tool) => toDefinition(guarded(tool, options.log)))
    : toAgentTools(tools, options).map(toDefinition)
}

function isList(tools: Hub | readonly AgentTool[]): tools is readonly AgentTool[] {
  return Array.isArray(tools)
}

function toDefinition({ name, label = name, description, parameters, execute }: AgentTool): ToolDefinition {
  return {
    ...{ name, label, description },
    parameters: parameters as Record<string, unknown>,
    execute: (toolCallId, params, onUpdate, _ctx, signal) => execute(toolCallId, params, signal, onUpdate),
  }
}

/** A tool whose failures are results; tools of a hub already behave like that. */
function guarded(tool: AgentTool, log: AgentToolOptions['log'] = logToStandardError): AgentTool {
  const { name } = tool
  return {
    ...tool,
    async execute(toolCallId, params, signal, onUpdate) {
      try {
        return await tool.execute(toolCallId, params, signal, onUpdate)
      } catch (error) {
        if (signal?.aborted) throw error
        log(`[tools] ${name} failed: ${messageOf(error)}`)
        return jsonResult({ status: 'error', tool: name, error: messageOf(error) })
      }
    },
  }
}

/**
 * Definitions of tools that a client executes: each returns `pending` immediately, and the loop passes the call to its
 * client. The hub does not see such calls; use `connectClient` for calls under policy and on record.
 * @example
 * const definitions = toClientToolDefinitions([{ function: { name: 'pick_color', description: 'Let the user pick.', parameters } }])
 */
export function toClientToolDefinitions(tools: readonly FunctionTool[]): ToolDefinition[] {
  return tools.map(({ function: { name, description = '', parameters = NO_ARGUMENTS } }) => ({
    name,
    label: name,
    description,
    parameters: parameters as Record<string, unknown>,
    execute: async () => pendingResult(name),
  }))
}

type FunctionTool = Extract<ClientToolDefinition, { readonly function: object }>
