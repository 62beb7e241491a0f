import { type ContentBlock, type ToolCard, type ToolResult, textOfBlock, toWireName } from '@tool-hub/core'
import { FROM_TOOL_RESULT, failureText } from './model-calls.ts'
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

export { type ChatChunk, type ChatToolCall, type ChatToolCallDelta, collectToolCalls } from './collect-tool-calls.ts'

/** Options of `toOpenAi`. */
export interface OpenAiOptions extends ModelToolOptions {
  /**
   * A tool message of a chat contains only text. `true` adds the images of results in a user message after them;
   * content from outside then appears to come from the user. Default: false. The Responses API does not need it.
   */
  readonly imagesAsUser?: boolean
}

/** A tool for chat completions. */
export interface OpenAiChatTool {
  type: 'function'
  /** Name, description and JSON Schema, as Chat Completions takes them. */
  function: { name: string; description: string; parameters: ObjectSchema; strict?: boolean }
}

/** The answer to one tool call of a chat. */
export interface OpenAiToolMessage {
  role: 'tool'
  /** Id of the call that it answers. */
  tool_call_id: string
  /** What the model reads. */
  content: string
}

/** The images of tool results, for models that see. */
export interface OpenAiImageMessage {
  role: 'user'
  /** The images of the results before it, each named by a text. */
  content: ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[]
}

/** A tool for the Responses API. */
export interface OpenAiFunctionTool {
  type: 'function'
  /** The name that the model calls. */
  name: string
  /** When to use it, for the model. */
  description: string
  /** JSON Schema of the arguments. */
  parameters: ObjectSchema
  /** `true` if `strict` was requested and the schema allows it. */
  strict: boolean
}

/** A search for tools that the model makes and `run` answers, for the Responses API. */
export interface OpenAiToolSearch {
  type: 'tool_search'
  /** A search has no name: so a list of tools can be looked through by name. */
  name?: undefined
  /** A search is never strict. */
  strict?: undefined
  /** The search is answered by `run`, not by the provider. */
  execution: 'client'
  /** What can be found, one line for each server. */
  description: string
  /** JSON Schema of the search. */
  parameters: ObjectSchema
}

/** The tools of one server that a search has found. */
export interface OpenAiNamespace {
  type: 'namespace'
  /** The server. */
  name: string
  /** How many of its tools were found. */
  description: string
  /** The tools, loaded into the context of the model. */
  tools: (OpenAiFunctionTool & { defer_loading: true })[]
}

/** The answer to a search for tools. */
export interface OpenAiToolSearchOutput {
  type: 'tool_search_output'
  /** Id of the search that it answers. */
  call_id: string
  /** The search was answered by `run`, not by the provider. */
  execution: 'client'
  /** `incomplete` if the search failed. */
  status: 'completed' | 'incomplete'
  /** The tools that were found, by server. */
  tools: OpenAiNamespace[]
}

/** The answer to one function call of a response. */
export interface OpenAiFunctionOutput {
  type: 'function_call_output'
  /** Id of the function call that it answers. */
  call_id: string
  /** What the model reads: text, or parts when there are images. */
  output: string | OpenAiOutputPart[]
  /** Repeated from the function call if it has one. */
  caller?: { type: 'direct' } | { type: 'program'; caller_id: string }
}

/** A part of such an answer. */
export type OpenAiOutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }

/** The tools for both APIs of OpenAI, and for compatible servers. */
export interface OpenAiTools {
  /** For Chat Completions and compatible servers. */
  readonly chat: {
    /** For `client.chat.completions.create({ tools })`; a snapshot. */
    readonly tools: OpenAiChatTool[]
    /**
     * Makes the calls of a message concurrently and returns the messages that answer them, in the model's order. Never
     * throws.
     */
    run(
      message: { readonly tool_calls?: readonly object[] | null } | readonly object[],
      options?: RunOptions,
    ): Promise<(OpenAiToolMessage | OpenAiImageMessage)[]>
  }
  /** For the Responses API. */
  readonly responses: {
    /** For `client.responses.create({ tools })`; a snapshot. Where there are many tools, one of them is a search. */
    readonly tools: (OpenAiFunctionTool | OpenAiToolSearch)[]
    /**
     * Makes the function calls and searches of a response concurrently and returns the items that answer them, in the model's
     * order. Never throws.
     */
    run(
      response: { readonly output: readonly object[] } | readonly object[],
      options?: RunOptions,
    ): Promise<(OpenAiFunctionOutput | OpenAiToolSearchOutput)[]>
  }
}

/**
 * Returns the visible tools for OpenAI's Chat Completions and Responses APIs; every call goes through the pipeline.
 * Where policy asks, the hub's approver answers, or `approve`.
 * @example
 * const { chat } = toOpenAi(hub)
 * const { choices } = await client.chat.completions.create({ model, messages, tools: chat.tools })
 * messages.push(choices[0].message, ...(await chat.run(choices[0].message, { messages })))
 */
export function toOpenAi(hub: ToolCaller, options: OpenAiOptions = {}): OpenAiTools {
  const { imagesAsUser = false, ...others } = options
  const chat = new ModelTools(hub, others, (cards) =>
    cards.filter(({ shown }) => shown === undefined).map((card) => describe(card, others, chatTool)),
  )
  const responses = new ModelTools(hub, others, (cards) =>
    cards
      .filter(({ finds }) => finds === undefined || finds === 'search')
      .map((card) => ({ ...describe(card, others, responseTool), isListed: card.shown === undefined })),
  )
  return {
    chat: {
      get tools() {
        return chat.list()
      },
      async run(given, runOptions) {
        const calls = itemsOf(given, 'tool_calls').filter(isFunction).map(readChatCall)
        const answers = await chat.answer(calls, runOptions, (call, result) => ({ id: call.id, result }))
        const messages = answers.map(toToolMessage)
        return imagesAsUser ? [...messages, ...imageMessages(answers)] : messages
      },
    },
    responses: {
      get tools() {
        return responses.list()
      },
      run(given, runOptions) {
        const { searchName } = responses
        const isCall = (item: unknown): item is ModelItem =>
          isFunctionCall(item) || (searchName !== undefined && isToolSearch(item))
        const calls = itemsOf(given, 'output')
          .filter(isCall)
          .map((item) =>
            readFunctionCall(isToolSearch(item) ? { ...item, name: searchName } : item, isToolSearch(item)),
          )
        return responses.answer(calls, runOptions, (call, result) =>
          call.isSearch ? toSearchOutput(call, result, responses.found(result)) : toFunctionOutput(call, result),
        )
      },
    },
  }
}

function describe<T>(
  card: ToolCard,
  { strict }: ModelToolOptions,
  form: (card: ToolCard, schema: ProviderSchema) => T,
): { tool: T; card: ToolCard; schema: ProviderSchema } {
  const schema = schemaFor(wantsStrict(card, strict) ? 'openai-strict' : 'openai', card.parameters)
  return { tool: form(card, schema), card, schema }
}

/** Compatible servers may not know `strict`, so it is only set if it is true. */
function chatTool({ name, description }: ToolCard, { schema: parameters, strict }: ProviderSchema): OpenAiChatTool {
  return { type: 'function', function: { name, description, parameters, ...(strict && { strict }) } }
}

/** A tool of a response: a search is a type of its own. */
function responseTool(card: ToolCard, schema: ProviderSchema): OpenAiFunctionTool | OpenAiToolSearch {
  if (card.finds !== 'search') return functionTool(card, schema)
  return { type: 'tool_search', execution: 'client', description: card.description, parameters: schema.schema }
}

/** The Responses API tries strict mode if the field is absent. */
function functionTool(card: ToolCard, { schema: parameters, strict }: ProviderSchema): OpenAiFunctionTool {
  const { name, description } = card
  return { type: 'function', name, description, parameters, strict }
}

/** What a model sent; nothing is taken for granted. */
interface ModelItem {
  readonly type?: unknown
  readonly id?: unknown
  readonly call_id?: unknown
  readonly name?: unknown
  readonly arguments?: unknown
  readonly function?: ModelItem | null
  readonly caller?: unknown
  readonly execution?: unknown
}

/** A chat may contain calls of other kinds, which belong to other providers of tools. */
function isFunction(item: unknown): item is ModelItem {
  return typeof item === 'object' && item !== null && typeof (item as ModelItem).function === 'object'
}

function isFunctionCall(item: unknown): item is ModelItem {
  return (item as ModelItem | null)?.type === 'function_call'
}

/** A search that the provider has not answered itself. */
function isToolSearch(item: unknown): item is ModelItem {
  const { type, execution } = (item ?? {}) as ModelItem
  return type === 'tool_search_call' && execution !== 'server'
}

function readChatCall({ id, function: called }: ModelItem): ModelCall & { readonly id: string } {
  return { id: textOrEmpty(id), name: textOrEmpty(called?.name), given: called?.arguments ?? '' }
}

interface FunctionCall extends ModelCall {
  readonly id: string
  readonly isSearch: boolean
  readonly caller: OpenAiFunctionOutput['caller']
}

/** A program that the model wrote may be the caller; the answer names it. */
function readFunctionCall({ call_id, name, arguments: given, caller }: ModelItem, isSearch: boolean): FunctionCall {
  const { type, caller_id } = (caller ?? {}) as { readonly type?: unknown; readonly caller_id?: unknown }
  const call = { id: textOrEmpty(call_id), name: textOrEmpty(name), given: given ?? '', isSearch }
  if (type !== 'program') return { ...call, caller: undefined }
  return { ...call, callerKind: 'script', caller: { type, caller_id: textOrEmpty(caller_id) } }
}

interface Answered {
  readonly id: string
  readonly result: ToolResult
}

function toToolMessage({ id, result }: Answered): OpenAiToolMessage {
  return { role: 'tool', tool_call_id: id, content: plainText(result) }
}

function toFunctionOutput({ id, caller }: FunctionCall, result: ToolResult): OpenAiFunctionOutput {
  const hasImages = result.ok && result.content.some(isImage)
  const output = hasImages ? result.content.map(toPart) : plainText(result)
  return { type: 'function_call_output', call_id: id, output, ...(caller && { caller }) }
}

/** A search that failed has found nothing; the model may search again. */
function toSearchOutput(
  { id }: FunctionCall,
  result: ToolResult,
  found: readonly ModelTool<OpenAiFunctionTool | OpenAiToolSearch>[],
): OpenAiToolSearchOutput {
  const servers = new Map<string, OpenAiNamespace['tools']>()
  for (const { tool, card } of found) {
    if (tool.type !== 'function') continue
    const server = toWireName(card.tool.replace(/\.[^/]*$/, ''))
    servers.set(server, [...(servers.get(server) ?? []), { ...tool, defer_loading: true }])
  }
  const tools = [...servers].map(([name, own]): OpenAiNamespace => {
    return { type: 'namespace', name, description: `${own.length} of the tools of ${name}.`, tools: own }
  })
  return {
    type: 'tool_search_output',
    call_id: id,
    execution: 'client',
    status: result.ok ? 'completed' : 'incomplete',
    tools,
  }
}

function plainText(result: ToolResult): string {
  return result.ok ? result.content.map(textOfBlock).join('\n') : failureText(result)
}

function toPart(block: ContentBlock): OpenAiOutputPart {
  if (isImage(block)) return { type: 'input_image', image_url: dataUrl(block), detail: 'auto' }
  return { type: 'input_text', text: textOfBlock(block) }
}

function imageMessages(answers: readonly Answered[]): OpenAiImageMessage[] {
  const content = answers.flatMap(({ id, result }) => {
    const images = result.ok ? result.content.filter(isImage) : []
    if (images.length === 0) return []
    const title = { type: 'text', text: `${FROM_TOOL_RESULT}${id}:` } as const
    return [title, ...images.map((image) => ({ type: 'image_url', image_url: { url: dataUrl(image) } }) as const)]
  })
  return content.length > 0 ? [{ role: 'user', content }] : []
}

type Image = ContentBlock & { readonly type: 'image' }
const SEEN = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

/** An image that OpenAI's models accept; others are only named. */
function isImage(block: ContentBlock): block is Image {
  return block.type === 'image' && SEEN.has(block.mediaType)
}

function dataUrl({ data, mediaType }: Image): string {
  return `data:${mediaType};base64,${data}`
}
