import { type AnyTool, type BaseContext, type ContentBlock, ToolError } from '@tool-hub/core'
import { acceptSchema, defineForm, type FormGovernance, showValue } from './define-form.ts'

/** A tool as MCP servers list it. */
export interface McpToolDefinition {
  /** Becomes the canonical name unless the governance sets another. */
  readonly name: string
  /** A short name for people. */
  readonly title?: string | undefined
  /** When to use it, for the model. */
  readonly description?: string | undefined
  /** JSON Schema of the arguments. */
  readonly inputSchema: object
  /** JSON Schema of `structuredContent`. Default: anything. */
  readonly outputSchema?: object | undefined
  /** Only the title is used; hints about side effects are not trusted. */
  readonly annotations?: { readonly title?: string | undefined } | undefined
}

/** What a handler returns, a `CallToolResult`. */
export interface McpToolResult {
  /** Content blocks as MCP has them. */
  readonly content?: readonly object[] | undefined
  /** The data; checked against `outputSchema`. */
  readonly structuredContent?: unknown
  /** `true` ends the call with `TOOL_FAILED`. Default: `false`. */
  readonly isError?: boolean | undefined
}

interface Notification {
  /** Name of the notification; progress reaches the caller. */
  readonly method: string
  /** Its parameters, as MCP has them. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/**
 * What handlers of the MCP SDK receive in addition to the arguments: version 1 reads the first fields, version 2 reads
 * `mcpReq`.
 */
export interface McpHandlerExtra {
  /** Aborts when the call is stopped or times out. */
  readonly signal: AbortSignal
  /** Id of the call. */
  readonly requestId: string
  /** The token that notifications of progress must carry. */
  readonly _meta: { readonly progressToken: string }
  /** Sends a notification; progress reaches the caller, others are dropped. */
  sendNotification(notification: Notification): Promise<void>
  /** The same for handlers written for version 2 of the MCP SDK. */
  readonly mcpReq: {
    /** Id of the call. */
    readonly id: string
    readonly method: 'tools/call'
    /** Aborts when the call is stopped or times out. */
    readonly signal: AbortSignal
    /** The token that notifications of progress must carry. */
    readonly _meta: { readonly progressToken: string }
    /** Sends a notification; progress reaches the caller, others are dropped. */
    notify(notification: Notification): Promise<void>
  }
}

interface McpOutput {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
}

/**
 * Converts an MCP tool definition and its handler. A tool without declared capabilities counts as able to run
 * commands: policy denies it until a rule of yours allows it.
 * @example
 * const hub = createToolHub({ tools: [fromMcpTool(definition, async ({ city }) => ({ content: [{ type: 'text', text: await forecast(city) }] }), { capabilities: ['network'] })] })
 */
// biome-ignore lint/suspicious/noExplicitAny: the arguments' type is the author's; they are validated by their schema
export function fromMcpTool<P = any>(
  definition: McpToolDefinition,
  handler: (args: P, extra: McpHandlerExtra) => McpToolResult | Promise<McpToolResult>,
  governance: FormGovernance<P> = {},
): AnyTool {
  const { name, outputSchema, annotations } = definition
  return defineForm(
    {
      kind: 'MCP tool',
      toolKind: 'mcp',
      name,
      title: definition.title ?? annotations?.title,
      description: definition.description,
      input: acceptSchema(definition.inputSchema, name),
      output: outputSchema && outputOf(outputSchema),
      execute: async (args, ctx) => readResult(name, await handler(args as P, extraOf(ctx)), Boolean(outputSchema)),
      toModel: ({ content, structuredContent }: McpOutput) =>
        content.length > 0 ? content : JSON.stringify(structuredContent ?? null),
    },
    governance,
  )
}

/** An id of its own keeps inner references valid. */
function outputOf(outputSchema: object): object {
  return {
    type: 'object',
    properties: {
      content: { type: 'array', items: { type: 'object' } },
      structuredContent: { $id: 'structured-content', ...outputSchema },
    },
    required: ['content', 'structuredContent'],
    additionalProperties: false,
  }
}

function readResult(name: string, result: McpToolResult, isStructured: boolean): McpOutput {
  if (typeof result !== 'object' || result === null) throw noResult(name)
  const { structuredContent } = result
  const output = { content: mcpContent(result.content), ...(structuredContent !== undefined && { structuredContent }) }
  if (result.isError !== true) return output
  const said = output.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const data = isStructured && structuredContent === undefined ? undefined : output
  throw new ToolError('TOOL_FAILED', `${name} failed: ${showValue(said || 'it did not say why')}`, { data })
}

function extraOf(ctx: BaseContext): McpHandlerExtra {
  const { callId, signal } = ctx
  const notify = async (notification: Notification) => reportProgress(notification, ctx)
  const meta = { progressToken: callId }
  return {
    signal,
    requestId: callId,
    _meta: meta,
    sendNotification: notify,
    mcpReq: { id: callId, method: 'tools/call', signal, _meta: meta, notify },
  }
}

/** Other notifications have no receiver. */
function reportProgress({ method, params = {} }: Notification, ctx: BaseContext): void {
  if (method !== 'notifications/progress') return
  const { message, progress, total } = params
  const count = total === undefined ? showValue(progress) : `${showValue(progress)} of ${showValue(total)}`
  ctx.progress(typeof message === 'string' ? message : count)
}

function noResult(name: string): ToolError {
  return new ToolError('OUTPUT_SCHEMA_INVALID', `${name} returned no MCP result.`, {
    hint: 'Return { content: [{ type: "text", text }] }.',
  })
}

type Block = Readonly<Record<string, unknown>>

/** Converts the content blocks of an MCP result; unknown kinds become readable JSON. */
export function mcpContent(content: unknown): readonly ContentBlock[] {
  return Array.isArray(content) ? content.map(toBlock) : []
}

function toBlock(given: unknown): ContentBlock {
  const block = isRecord(given) ? given : {}
  return known(block) ?? { type: 'text', text: showValue(given) }
}

function known({ type, text, data, mimeType, resource, ...others }: Block): ContentBlock | undefined {
  if (type === 'text' && typeof text === 'string') return { type, text }
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string') {
    return { type, data, mediaType: mimeType }
  }
  if (type === 'resource' && isRecord(resource)) return document(resource)
  if (type === 'resource_link') return link({ ...others, mimeType })
  return undefined
}

function document({ uri, mimeType, text, blob }: Block): ContentBlock | undefined {
  if (typeof uri !== 'string') return undefined
  return {
    type: 'resource',
    uri,
    ...(typeof mimeType === 'string' && { mediaType: mimeType }),
    ...(typeof text === 'string' && { text }),
    ...(typeof blob === 'string' && { data: blob }),
  }
}

function link({ uri, name, title, description, mimeType, size }: Block): ContentBlock | undefined {
  if (typeof uri !== 'string') return undefined
  return {
    type: 'resource-link',
    uri,
    name: typeof name === 'string' ? name : uri,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(typeof mimeType === 'string' && { mediaType: mimeType }),
    ...(typeof size === 'number' && { bytes: size }),
  }
}

function isRecord(value: unknown): value is Block {
  return typeof value === 'object' && value !== null
}
