import { type ContentBlock, textOfBlock } from '../core/index.ts'
import type { Hub, ToolCard } from '../hub/index.ts'
import { approveOwnCall, failureText, needsAnswer } from './model-calls.ts'
import type { Provider } from './schema/for-provider.ts'
import { type AdapterOptions, chooseCards, shownSchema } from './shown-tools.ts'

/** How the tools behave in the OpenAI Agents SDK, and the caller's own `tool` of that SDK, which makes them. */
export interface OpenAiAgentsOptions<T> extends AdapterOptions {
  /** The function `tool` of `@openai/agents`; the package is not imported here. */
  readonly tool: (options: OpenAiAgentsToolOptions) => T
  /** Show the parameters as this provider takes them, and strict where it can be. Default: `openai`. */
  readonly provider?: Provider
  /** Who is asked where policy says ask: the user, by the SDK's own interruptions, or anyone who answers for the hub. */
  readonly approvals?: 'framework' | 'hub'
}

/** What `tool` is given, by shape. */
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

/** The SDK's types tell strict schemas from others; ours is known only when it runs, so its type is that of the others. */
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

/** A part of a result for the model, in the SDK's words. */
export type OpenAiAgentsOutput =
  | { type: 'text'; text: string }
  | { type: 'image'; image: { data: string; mediaType: string } }
  | { type: 'file'; file: { data: string; mediaType: string; filename: string } }

/**
 * The visible tools as function tools of the OpenAI Agents SDK, every call down the governed road; they are those of
 * this moment. Where policy asks, the run is interrupted, and a call that `state.approve` approved runs; one that
 * `state.reject` rejects never reaches the hub and its records. A failure is a text for the model. Validation is the hub's.
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
      // The SDK binds the yes of its user to the call's id, name and arguments.
      const isYes = isAsked && toolCall && context?.isToolApproved({ toolName: name, callId: toolCall.callId })
      const yes = isYes === true ? approveOwnCall('openai-agents') : undefined
      const result = await hub.callDynamic(name, restore(input), { run, session, caller, signal, ...yes })
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
