import type { AgentToolResult } from '../from-agent-tool.ts'
import type { Hub } from '../hub.ts'
import { toAgentContent, toAgentToolResult } from '../project-result.ts'

/** S3's form of a tool for an agent loop. */
export interface ToolDefinition {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly parameters: Record<string, unknown>
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
export function toToolDefinitions(
  hub: Hub,
  { dialect, log = () => {} }: { readonly dialect?: string; readonly log?: (line: string) => void } = {},
): ToolDefinition[] {
  return hub.registry.listForLLM({ dialect }).map(({ name, description, parameters }) => ({
    name,
    label: hub.registry.get(name)?.title ?? name,
    description,
    parameters,
    async execute(_toolCallId, params, onUpdate, _ctx, signal) {
      for await (const event of hub.stream(name, params, { signal })) {
        if (event.type === 'call-progressed') onUpdate?.({ content: toAgentContent(event.content) })
        if (event.type !== 'call-ended') continue
        const { result } = event
        if (!result.ok && result.status !== 'aborted') log(`[tools] ${name} failed: ${result.error.message}`)
        return toAgentToolResult(result)
      }
      throw new Error(`${name} ended without a result`)
    },
  }))
}
