import { type ContentBlock, type ToolCard, textOfBlock } from '@tool-hub/core'
import type { Hub } from '@tool-hub/runtime/hub'
import { approveOwnCall, failureText, needsAnswer } from './model-calls.ts'
import { type AdapterOptions, asRequest, chooseCards, shownSchema } from './model-tools.ts'
import type { Provider } from './schema/for-provider.ts'

/** Options of `toOpenAiAgents`, with the SDK's function `tool` that creates the tools. */
export interface OpenAiAgentsOptions<T> extends AdapterOptions {
  /** The function `tool` of `@openai/agents`; the package is not imported here. */
  readonly tool: (options: OpenAiAgentsToolOptions) => T
  /** Convert the parameters for this provider, strict where its strict mode allows it. Default: `openai`. */
  readonly provider?: Provider
  /**
   * Who approves calls for which policy asks: the user, through the SDK's interruptions (`framework`), or the approver
   * of the hub (`hub`).
   */
  readonly approvals?: 'framework' | 'hub'
}

/** What `tool` receives, by shape. */
export interface OpenAiAgentsToolOptions extends OpenAiAgentsParameters {
  /** The name that the model calls. */
  name: string
  /** When to use it, for the model. */
  description: string
  /** Whether policy asks about this call; absent with `approvals: 'hub'`. */
  needsApproval?: (context: unknown, input: unknown) => Promise<boolean>
  /** Calls the tool through the hub; a failure is a text for the model, never an exception. */
  execute: (
    input: unknown,
    context?: { isToolApproved(call: { toolName: string; callId: string }): boolean | undefined },
    details?: { readonly signal?: AbortSignal; readonly toolCall?: { readonly callId: string } },
  ) => Promise<string | OpenAiAgentsOutput[]>
}

/**
 * The SDK's types distinguish strict schemas from others; here that is known only at run time, so the type is that of
 * the others.
 */
export interface OpenAiAgentsParameters {
  strict: false
  /** JSON Schema of the arguments; the hub validates, not the SDK. */
  parameters: {
    type: 'object'
    /** Schemas of the arguments by name. */
    properties: Record<string, Record<string, unknown>>
    /** Names of arguments that must be given. */
    required: string[]
    additionalProperties: true
  }
}

/** A part of a result for the model, as the SDK defines it. */
export type OpenAiAgentsOutput =
  | { type: 'text'; text: string }
  | { type: 'image'; image: { data: string; mediaType: string } }
  | { type: 'file'; file: { data: string; mediaType: string; filename: string } }

/**
 * Returns the visible tools as function tools of the OpenAI Agents SDK; every call goes through the pipeline. The list
 * is a snapshot. Where policy asks, the run is interrupted: a call approved by `state.approve` runs, and one rejected
 * by `state.reject` never reaches the hub and its records. A failure is a text for the model. The hub validates the
 * arguments.
 * @example
 * const agent = new Agent({ name: 'Helper', tools: toOpenAiAgents(hub, { tool }) })
 */
export function toOpenAiAgents<T>(hub: Hub, options: OpenAiAgentsOptions<T>): T[] {
  return chooseCards(hub, options).map((card) => options.tool(toolOptions(hub, card, options)))
}

function toolOptions(
  hub: Hub,
  card: ToolCard,
  { run, session, caller, provider = 'openai', approvals = 'framework' }: Omit<OpenAiAgentsOptions<unknown>, 'tool'>,
): OpenAiAgentsToolOptions {
  const { name, description } = card
  const { schema, strict, restore } = shownSchema(card, provider)
  const who = { run, session, caller }
  const isAsked = approvals === 'framework'
  return {
    name,
    description,
    ...({ strict, parameters: schema } as object as OpenAiAgentsParameters),
    ...(isAsked && {
      needsApproval: async (_context: unknown, input: unknown) => needsAnswer(hub, name, restore(input), who),
    }),
    async execute(input, context, { signal, toolCall } = {}) {
      // The SDK binds the approval of its user to the id, name and arguments of the call.
      const isYes = isAsked && toolCall && context?.isToolApproved({ toolName: name, callId: toolCall.callId })
      const yes = isYes === true ? approveOwnCall('openai-agents') : undefined
      const result = await hub.callDynamic(name, restore(input), {
        ...who,
        ...asRequest(hub, toolCall?.callId, run),
        signal,
        ...yes,
      })
      signal?.throwIfAborted()
      return result.ok ? outputOf(result.content) : failureText(result)
    },
  }
}

function outputOf(content: readonly ContentBlock[]): string | OpenAiAgentsOutput[] {
  const parts = content.map(partOf)
  return parts.some(({ type }) => type !== 'text') ? parts : content.map(textOfBlock).join('\n')
}

function partOf(block: ContentBlock): OpenAiAgentsOutput {
  if (block.type === 'image') return { type: 'image', image: { data: block.data, mediaType: block.mediaType } }
  if (block.type !== 'resource' || block.data === undefined) return { type: 'text', text: textOfBlock(block) }
  const { data, uri, mediaType = 'application/octet-stream' } = block
  return { type: 'file', file: { data, mediaType, filename: uri.slice(uri.lastIndexOf('/') + 1) || 'file' } }
}
