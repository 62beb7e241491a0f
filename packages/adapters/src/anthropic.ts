import { type ContentBlock, type ToolCard, type ToolResult, textOfBlock } from '@tool-hub/core'

import { failureText } from './model-calls.ts'
import {
  itemsOf,
  type ModelCall,
  type ModelTool,
  type ModelToolOptions,
  ModelTools,
  type RunOptions,
  type ToolCaller,
  textOrEmpty,
  wantsStrict,
} from './model-tools.ts'
import { type ObjectSchema, type ProviderSchema, schemaFor } from './schema/for-provider.ts'
import { ANTHROPIC_REQUEST } from './schema/strict-rules.ts'

/** Options of `toAnthropic`. */
export interface AnthropicOptions extends ModelToolOptions {
  /** Lets the provider cache the tools between requests by marking the last one. Default: false. */
  readonly cacheControl?: boolean | { readonly ttl: '5m' | '1h' }
}

/** A tool for the Messages API. */
export interface AnthropicTool {
  /** The name that the model calls. */
  name: string
  /** When to use it, for the model. */
  description: string
  /** JSON Schema of the arguments, as the Messages API takes it. */
  input_schema: ObjectSchema
  /** Set if `strict` was requested and the schema allows it. */
  strict?: boolean
  /** Set on a tool that is not shown to the model before a search has found it. */
  defer_loading?: boolean
  /** Set on the last tool that is shown, if `cacheControl` was requested. */
  cache_control?: { type: 'ephemeral'; ttl?: '5m' | '1h' }
}

/** The answer to one `tool_use`. */
export interface AnthropicToolResult {
  type: 'tool_result'
  /** Id of the `tool_use` block that it answers. */
  tool_use_id: string
  /** What the model reads: text, or blocks when there are images or documents. */
  content: string | AnthropicResultBlock[]
  /** `true` when the call failed; absent otherwise. */
  is_error?: boolean
}

/** A block of such an answer. */
export type AnthropicResultBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: AnthropicImageType; data: string } }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string } }
  | { type: 'tool_reference'; tool_name: string }

/** Image types that Claude accepts; others are only named. */
export type AnthropicImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'

/** The tools of a hub for the Messages API. */
export interface AnthropicTools {
  /** For `client.messages.create({ tools })`; a snapshot. */
  readonly tools: AnthropicTool[]
  /**
   * Makes the calls of a message concurrently and returns the blocks that answer them, in the model's order. Never
   * throws.
   */
  run(
    message: { readonly content: readonly object[] } | readonly object[],
    options?: RunOptions,
  ): Promise<AnthropicToolResult[]>
}

/**
 * Returns the visible tools for Anthropic's Messages API; every call goes through the pipeline. Where policy asks, the
 * hub's approver answers, or `approve`. A request may contain 20 strict tools with 24 optional arguments and 16 unions
 * in total: tools beyond that are not strict.
 * @example
 * const claude = toAnthropic(hub, { cacheControl: true })
 * const message = await client.messages.create({ model, max_tokens, messages, tools: claude.tools })
 * messages.push(message, { role: 'user', content: await claude.run(message, { messages }) })
 */
export function toAnthropic(hub: ToolCaller, options: AnthropicOptions = {}): AnthropicTools {
  const { cacheControl, ...others } = options
  const tools = new ModelTools(hub, others, (cards) => markLast(describe(cards, others.strict), cacheControl))
  return {
    get tools() {
      return tools.list()
    },
    run(given, runOptions) {
      const calls = itemsOf(given, 'content').filter(isToolUse).map(readCall)
      return tools.answer(calls, runOptions, (call, result) => {
        const found = call.name === tools.searchName ? tools.found(result) : []
        return found.length > 0 ? toReferences(call, found) : toToolResult(call, result)
      })
    },
  }
}

/** What a model sent; nothing is taken for granted. */
interface ModelItem {
  readonly type?: unknown
  readonly id?: unknown
  readonly name?: unknown
  readonly input?: unknown
  readonly caller?: { readonly type?: unknown } | null
}

function describe(cards: readonly ToolCard[], strict: ModelToolOptions['strict']): ModelTool<AnthropicTool>[] {
  const left = { ...ANTHROPIC_REQUEST } as { tools: number; optionals: number; unions: number }
  const takes = ({ strict, counts: { optionals, unions } }: ProviderSchema): boolean => {
    if (!strict || left.tools < 1 || left.optionals < optionals || left.unions < unions) return false
    left.tools--
    left.optionals -= optionals
    left.unions -= unions
    return true
  }
  return inOrder(cards).map((card) => {
    const wanted = wantsStrict(card, strict) ? schemaFor('anthropic-strict', card.parameters) : undefined
    const schema = wanted && takes(wanted) ? wanted : schemaFor('anthropic', card.parameters)
    const { name, description } = card
    return {
      tool: {
        name,
        description,
        input_schema: schema.schema,
        ...(schema.strict && { strict: true }),
        ...(card.shown === 'later' && { defer_loading: true }),
      },
      card,
      schema,
    }
  })
}

function markLast(
  tools: readonly ModelTool<AnthropicTool>[],
  cacheControl: AnthropicOptions['cacheControl'],
): readonly ModelTool<AnthropicTool>[] {
  const at = tools.findLastIndex(({ card }) => card.shown === undefined)
  const last = tools[at]
  if (!cacheControl || !last) return tools
  const ttl = cacheControl === true ? {} : { ttl: cacheControl.ttl }
  const tool: AnthropicTool = { ...last.tool, cache_control: { type: 'ephemeral', ...ttl } }
  return [...tools.slice(0, at), { ...last, tool }, ...tools.slice(at + 1)]
}

/** The tools that are shown, then those that a search loads. The other tools about tools are not needed here. */
function inOrder(cards: readonly ToolCard[]): readonly ToolCard[] {
  const isShown = ({ shown }: ToolCard) => shown === undefined
  const used = cards.filter(({ finds }) => finds === undefined || finds === 'search')
  return [...used.filter(isShown), ...used.filter((card) => !isShown(card))]
}

/** The answer to a search: the definitions of these tools are loaded into the context of the model. */
function toReferences(
  { id }: { readonly id: string },
  found: readonly ModelTool<AnthropicTool>[],
): AnthropicToolResult {
  const content = found.map(({ tool }) => ({ type: 'tool_reference', tool_name: tool.name }) as const)
  return { type: 'tool_result', tool_use_id: id, content }
}

function isToolUse(block: unknown): block is ModelItem {
  return (block as ModelItem | null)?.type === 'tool_use'
}

/** Code that the model wrote may be the caller. */
function readCall({ id, name, input, caller }: ModelItem): ModelCall & { readonly id: string } {
  const isScript = typeof caller?.type === 'string' && caller.type !== 'direct'
  return {
    id: textOrEmpty(id),
    name: textOrEmpty(name),
    given: input ?? {},
    ...(isScript && { callerKind: 'script' as const }),
  }
}

/** An error contains only text. */
function toToolResult({ id }: { readonly id: string }, result: ToolResult): AnthropicToolResult {
  const base = { type: 'tool_result', tool_use_id: id } as const
  if (!result.ok) return { ...base, content: failureText(result), is_error: true }
  const blocks = result.content.map(toBlock)
  if (blocks.every((block) => block.type === 'text')) {
    return { ...base, content: blocks.map(({ text }) => text).join('\n') || '(no output)' }
  }
  return { ...base, content: blocks.filter((block) => block.type !== 'text' || block.text !== '') }
}

const SEEN: ReadonlySet<string> = new Set<AnthropicImageType>(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function toBlock(block: ContentBlock): AnthropicResultBlock {
  if (block.type === 'image' && SEEN.has(block.mediaType)) {
    const media_type = block.mediaType as AnthropicImageType
    return { type: 'image', source: { type: 'base64', media_type, data: block.data } }
  }
  if (block.type === 'resource' && block.mediaType === 'application/pdf' && block.data !== undefined) {
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: block.data } }
  }
  return { type: 'text', text: textOfBlock(block) }
}
