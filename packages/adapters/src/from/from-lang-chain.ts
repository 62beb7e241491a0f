import { type AnyTool, type BaseContext, type ContentBlock, ToolError } from '@tool-hub/core'
import type { AnySchema, StandardResult, StandardSchema } from '@tool-hub/core/schema'
import { acceptSchema, defineForm, type FormGovernance, mediaBlock, showValue } from './define-form.ts'

/** A tool of LangChain (`tool()`, StructuredTool, DynamicTool), by its shape. */
export interface LangChainTool {
  /** Becomes the canonical name unless the governance sets another. */
  readonly name: string
  /** When to use it, for the model. */
  readonly description?: string | undefined
  /** A zod schema, or JSON Schema of the arguments. */
  readonly schema: unknown
  /** Does the work. */
  // biome-ignore lint/suspicious/noExplicitAny: input and config have LangChain's types, which are not imported here
  invoke(input: any, config?: any): Promise<unknown>
}

/** What the model sees, and what only the program receives. */
interface LangChainOutput {
  readonly content: readonly ContentBlock[]
  readonly artifact: unknown
}

/**
 * Converts a LangChain tool. A tool without declared capabilities counts as able to run commands: policy denies it
 * until a rule of yours allows it.
 * @example
 * const hub = createToolHub({ tools: [fromLangChain(search, { capabilities: ['network'] })] })
 */
export function fromLangChain(tool: LangChainTool, governance: FormGovernance = {}): AnyTool {
  if (typeof tool?.invoke !== 'function') throw notExecutable(tool)
  const { schema, rawOf } = keepRaw(governance.input ?? schemaOf(tool))
  return defineForm(
    {
      kind: 'LangChain tool',
      toolKind: 'langchain',
      name: tool.name,
      description: tool.description,
      input: schema,
      async execute(input, ctx) {
        const call = { type: 'tool_call', id: ctx.callId, name: tool.name, args: rawOf(input) }
        return readAnswer(tool.name, await tool.invoke(call, configOf(ctx)))
      },
      toModel: ({ content }: LangChainOutput) => content,
    },
    { ...governance, input: undefined },
  )
}

/** The config that LangChain passes to a tool; values that a generator yields are progress. */
function configOf(ctx: BaseContext) {
  return { signal: ctx.signal, callbacks: [{ handleToolEvent: (event: unknown) => ctx.progress(showValue(event)) }] }
}

/** A tool invoked by a tool call answers with a message, unless it steers a graph. */
function readAnswer(name: string, answer: unknown): LangChainOutput {
  if (!isMessage(answer)) {
    if (isCommand(answer)) throw steersGraph(name)
    return { content: langChainContent(answer), artifact: null }
  }
  const output = { content: langChainContent(answer.content), artifact: answer.artifact ?? null }
  if (answer.status !== 'error') return output
  const said = output.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  throw new ToolError('TOOL_FAILED', `${name} failed: ${showValue(said)}`, { data: output })
}

function isMessage(answer: unknown): answer is { content: unknown; artifact?: unknown; status?: unknown } {
  return typeof answer === 'object' && answer !== null && 'tool_call_id' in answer && 'content' in answer
}

function isCommand(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'lg_name' in answer
}

/** A tool that takes one text has a zod 3 schema with a transform, which has no JSON Schema form. */
function schemaOf({ name, schema }: LangChainTool): AnySchema {
  return isTextSchema(schema) ? ONE_TEXT : acceptSchema(schema, name)
}

const ONE_TEXT = { type: 'object', properties: { input: { type: 'string' } }, additionalProperties: false } as const

function isTextSchema(schema: unknown): boolean {
  const definition = (schema as { _def?: { typeName?: unknown; schema?: { shape?: unknown } } } | undefined)?._def
  if (definition?.typeName !== 'ZodEffects') return false
  const { shape } = definition.schema ?? {}
  return typeof shape === 'object' && shape !== null && Object.keys(shape).join() === 'input'
}

function notExecutable(tool: LangChainTool): ToolError {
  return new ToolError('CONFIG_INVALID', `${showValue(tool?.name)} is no LangChain tool: it has no invoke function.`, {
    hint: 'Give what tool() of @langchain/core/tools makes, or an instance of a StructuredTool.',
  })
}

function steersGraph(name: string): ToolError {
  return new ToolError(
    'OUTPUT_SCHEMA_INVALID',
    `${name} returned a Command, which only a LangGraph graph can follow.`,
    {
      hint: 'Return content instead, and leave such a tool to the graph.',
    },
  )
}

/** A schema, and the original of each value that it accepted. */
interface RawInput {
  readonly schema: AnySchema
  /** The original arguments if this schema parsed them; others are returned unchanged. */
  rawOf(input: unknown): unknown
}

/**
 * For tools that parse their arguments again: policy judges the parsed arguments, with defaults, and the tool receives
 * the originals. Parsed twice, a transform would refuse its own result.
 */
function keepRaw(schema: AnySchema): RawInput {
  if (!('~standard' in schema)) return { schema, rawOf: (input) => input }
  const given = new WeakMap<object, unknown>()
  const keep = (result: StandardResult<unknown>, raw: unknown) => {
    if ('value' in result && typeof result.value === 'object' && result.value !== null) given.set(result.value, raw)
    return result
  }
  const standard = (schema as StandardSchema)['~standard']
  return {
    schema: {
      '~standard': {
        version: 1,
        vendor: standard.vendor,
        validate: (value) => {
          const result = standard.validate(value)
          return result instanceof Promise ? result.then((late) => keep(late, value)) : keep(result, value)
        },
        jsonSchema: standard.jsonSchema,
      },
    },
    rawOf: (input) => (typeof input === 'object' && input !== null ? (given.get(input) ?? input) : input),
  }
}

type Block = Readonly<Record<string, unknown>>

/**
 * Converts the content of a LangChain message: text, or content blocks of either generation; anything else becomes
 * JSON.
 */
function langChainContent(content: unknown): readonly ContentBlock[] {
  if (Array.isArray(content) && content.every(isBlock)) return content.map(toBlock)
  return [{ type: 'text', text: typeof content === 'string' ? content : (JSON.stringify(content) ?? '') }]
}

function isBlock(block: unknown): block is Block {
  return typeof block === 'object' && block !== null && 'type' in block && typeof block.type === 'string'
}

function toBlock(block: Block): ContentBlock {
  const { type, text, data, image_url: image } = block
  const isText = type === 'text' || type === 'text-plain' || block.source_type === 'text'
  if (isText && typeof text === 'string') return { type: 'text', text }
  if (type === 'image_url') return imageAt(image) ?? asJson(block)
  const mediaType = block.mimeType ?? block.mime_type
  return mediaBlock({ data, url: block.url, mediaType, name: nameOf(block) }) ?? asJson(block)
}

function imageAt(image: unknown): ContentBlock | undefined {
  const url = typeof image === 'object' && image !== null && 'url' in image ? image.url : image
  return mediaBlock({ url })
}

function nameOf({ metadata }: Block): unknown {
  return isRecord(metadata) ? (metadata.filename ?? metadata.name) : undefined
}

function isRecord(value: unknown): value is Block {
  return typeof value === 'object' && value !== null
}

/** A kind of block that only its own framework knows. */
function asJson(block: Block): ContentBlock {
  return { type: 'text', text: showValue(block) }
}
