import {
  type AgentTool,
  type AgentToolResult,
  type CallEvent,
  jsonResult,
  messageOf,
  type ToolCard,
  type ToolResult,
  toAgentContent,
  toAgentToolResult,
} from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'
import { type AdapterOptions, asRequest, chooseCards, type RunOptions, shownSchema } from './model-tools.ts'
import type { Provider } from './schema/for-provider.ts'

/** Options of `toAgentTools`. */
export interface AgentToolOptions extends AdapterOptions, RunOptions {
  /** Convert the parameters for this provider. Default: as the tools declare them. */
  readonly provider?: Provider
  /**
   * Receives a line for each failure, `[tools] <name> failed: …`; the failure is also the result for the model. Default:
   * standard error.
   */
  readonly log?: (line: string) => void
  /** Called when a call that returned `pending` has ended, because a client executed it. */
  readonly onSettled?: (result: ToolResult, toolCallId: string) => void
}

/**
 * Returns the visible tools as AgentTools (`label`, `parameters`, `execute(toolCallId, params, signal, onUpdate)`);
 * every call goes through the pipeline. A failure is a result for the model; an abort is thrown. The list is a
 * snapshot: call it again after `hub.onToolsChanged`.
 * @example
 * const [read] = toAgentTools(hub, { names: ['core/fs.readText'] })
 * const { content } = await read.execute('call-1', { path: 'notes.md' }, signal)
 */
export function toAgentTools(hub: Hub, options: AgentToolOptions = {}): (AgentTool & { readonly label: string })[] {
  return chooseCards(hub, options).map((card) => agentTool(hub, card, options))
}

function agentTool(hub: Hub, card: ToolCard, options: AgentToolOptions): AgentTool & { readonly label: string } {
  const { name, title, description } = card
  const { dialect: _1, names: _2, provider, log = logToStandardError, onSettled, ...callOptions } = options
  const { schema, restore } = shownSchema(card, provider)

  const finish = (result: ToolResult): AgentToolResult => {
    if (!result.ok && result.status !== 'aborted') log(`[tools] ${name} failed: ${result.error.message}`)
    return toAgentToolResult(result, name)
  }
  /** An error in a listener of the loop is not a failure of the tool. */
  const guard = (listener: string, notify: () => void): void => {
    try {
      notify()
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
        .callDynamic(name, restore(params), {
          ...callOptions,
          ...asRequest(hub, toolCallId, callOptions.run),
          signal,
          onEvent,
        })
        .then((result) =>
          isPending ? guard('onSettled', () => onSettled?.(result, toolCallId)) : resolve(finish(result)),
        )
        .catch(reject)
    })
  return { name, label: title ?? name, description, parameters: schema, execute }
}

/** The default of `log`. The text may come from outside. */
export function logToStandardError(line: string): void {
  console.error(escapeLine(line))
}

/** The model continues immediately; the client answers later. */
export function pendingResult(tool: string): AgentToolResult {
  return jsonResult({ status: 'pending', tool, message: 'Tool execution delegated to client' })
}
