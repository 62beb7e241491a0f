import { type ClientToolDefinition, jsonResult } from '../core/index.ts'
import type { ToolDefinition } from './tool-definitions.ts'

/**
 * Tools that a client executes, for a loop: each answers `pending` immediately, and the loop passes the call on to its client.
 * No hub knows of such a call; `connectClient` is the way for calls under policy and on record.
 * @example
 * const definitions = toClientToolDefinitions([{ function: { name: 'pick_color', description: 'Let the user pick.', parameters } }])
 */
export function toClientToolDefinitions(tools: readonly FunctionTool[]): ToolDefinition[] {
  return tools.map(({ function: { name, description = '', parameters = NO_ARGUMENTS } }) => ({
    name,
    label: name,
    description,
    parameters: parameters as Record<string, unknown>,
    execute: async () => jsonResult({ status: 'pending', tool: name, message: 'Tool execution delegated to client' }),
  }))
}

type FunctionTool = Extract<ClientToolDefinition, { readonly function: object }>

const NO_ARGUMENTS = Object.freeze({ type: 'object', properties: {}, additionalProperties: false })
