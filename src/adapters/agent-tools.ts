import {
  type AgentTool,
  type AgentToolResult,
  type CallEvent,
  jsonResult,
  messageOf,
  type ToolResult,
  toAgentContent,
  toAgentToolResult,
} from '../core/index.ts'
import type { Hub, ToolCard } from '../hub/index.ts'
import type { RunOptions } from './model-tools.ts'
import { type Provider, schemaFor } from './schema/for-provider.ts'
import { type AdapterOptions, chooseCards } from './shown-tools.ts'

/** How the tools behave in a loop that knows S3's AgentTool. */
export interface AgentToolOptions extends AdapterOptions, RunOptions {
  /** Show the parameters as this provider takes them. Default: as the tools have them. */
  readonly provider?: Provider
  /** Is notified of failures, `[tools] <name> failed: …`; they are results for the model too. */
  readonly log?: (line: string) => void
  /** Hears how a call ended that was answered with `pending`, because a client executes it. */
  readonly onSettled?: (result: ToolResult, toolCallId: string) => void
}

/**
 * The visible tools as S3's AgentTools, every call down the governed road. A failure is a result for the model, an abort
 * is thrown. They are those of this moment, so make them anew when `hub.onToolsChanged` tells.
 * @example
 * const [read] = toAgentTools(hub, { names: ['core/fs.readText'] })
 * const { content } = await read.execute('call-1', { path: 'notes.md' }, signal)
 */
export function toAgentTools(hub: Hub, options: AgentToolOptions = {}): (AgentTool & { readonly label: string })[] {
  return chooseCards(hub, options).map((card) => agentTool(hub, card, options))
}

function agentTool(hub: Hub, card: ToolCard, options: AgentToolOptions): AgentTool & { readonly label: string } {
  const { name, title, description } = card
  const { dialect: _1, names: _2, provider, log = () => {}, onSettled, ...callOptions } = options
  const { schema, restore } = provider
    ? schemaFor(provider, card.parameters)
    : { schema: card.parameters, restore: (args: unknown) => args }

  const finish = (result: ToolResult): AgentToolResult => {
    if (!result.ok && result.status !== 'aborted') log(`[tools] ${name} failed: ${result.error.message}`)
    return toAgentToolResult(result, name)
  }
  /** What the loop does with what it hears is no failure of the tool. */
  const guard = (listener: string, tell: () => void): void => {
    try {
      tell()
    } catch (error) {
      log(`[tools] ${listener} failed for ${name}: ${messageOf(error)}`)
    }
  }
  const execute: AgentTool['execute'] = (toolCallId, params, signal = callOptions.signal, onUpdate) =>
    new Promise((resolve, reject) => {
      let isPending = false
      const onEvent = (event: CallEvent): void => {
        callOptions.onEvent?.(event)
        if (isPending) return
        if (event.type === 'call-progressed')
          guard('onUpdate', () => onUpdate?.({ content: toAgentContent(event.content) }))
        if (event.type !== 'call-pending') return
        isPending = true
        resolve(pendingResult(name))
      }
      hub
        .callDynamic(name, restore(params), { ...callOptions, signal, onEvent })
        .then((result) =>
          isPending ? guard('onSettled', () => onSettled?.(result, toolCallId)) : resolve(finish(result)),
        )
        .catch(reject)
    })
  return { name, label: title ?? name, description, parameters: schema, execute }
}

/** S3-16: the model continues immediately, the client answers later. */
function pendingResult(tool: string): AgentToolResult {
  return jsonResult({ status: 'pending', tool, message: 'Tool execution delegated to client' })
}
