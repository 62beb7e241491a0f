import { type AnyTool, type BaseContext, type ContentBlock, ToolError } from '@tool-hub/core'
import {
  type AnySchema,
  compileSchema,
  describeIssues,
  type JsonSchema,
  type StandardResult,
  type StandardSchema,
} from '@tool-hub/core/schema'
import { acceptSchema, defineForm, type FormGovernance, mediaBlock, NO_ARGUMENTS, showValue } from './define-form.ts'

const MARK = Symbol.for('vercel.ai.schema')

/** A tool of the AI SDK (`tool()`, `dynamicTool()`, those of an MCP client), by its shape. */
export interface ForeignAiSdkTool {
  /** Named in the error for a tool that cannot be converted, such as one that a provider executes. */
  readonly type?: string | undefined
  /** A short name for people. */
  readonly title?: string | undefined
  /** When to use it, for the model. */
  readonly description?: string | undefined
  /** A zod schema, another Standard Schema, or `jsonSchema(…)` of the SDK. */
  readonly inputSchema: unknown
  /** Schema of what `execute` returns. Default: anything. */
  readonly outputSchema?: unknown
  /** Whether its author requires an approval; see `AiSdkGovernance`. */
  readonly needsApproval?: unknown
  /** Does the work; a tool without it cannot be converted. */
  // biome-ignore lint/suspicious/noExplicitAny: input and options have the AI SDK's types, which are not imported here
  readonly execute?: ((input: any, options: any) => unknown) | undefined
  /** The short form for a model. Default: the data as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly toModelOutput?: ((options: any) => unknown) | undefined
}

/** What policy needs to know of an AI SDK tool. */
export interface AiSdkGovernance extends FormGovernance {
  /**
   * A tool with `needsApproval` asks on every call, whatever the rules allow, even if `needsApproval` is a function:
   * nobody is asked less than its author wanted. `false` leaves it to the rules.
   */
  readonly needsApproval?: boolean
}

/**
 * Converts AI SDK tools: one with a name, or a set by its names. A tool without declared capabilities counts as able
 * to run commands: policy denies it until a rule of yours allows it.
 * @example
 * const hub = createToolHub({ tools: fromAiSdk({ weather }, { capabilities: ['network'], targets: ({ city }) => ({ network: `https://weather.example.org/${city}` }) }) })
 */
export function fromAiSdk(tool: ForeignAiSdkTool, governance: AiSdkGovernance & { readonly name: string }): AnyTool
export function fromAiSdk(
  tools: Readonly<Record<string, ForeignAiSdkTool>>,
  governance?: AiSdkGovernance | ((name: string) => AiSdkGovernance),
): AnyTool[]
export function fromAiSdk(
  given: ForeignAiSdkTool | Readonly<Record<string, ForeignAiSdkTool>>,
  governance: AiSdkGovernance | ((name: string) => AiSdkGovernance) = {},
): AnyTool | AnyTool[] {
  if (isTool(given)) return fromOne(given, undefined, typeof governance === 'function' ? {} : governance)
  if (typeof governance !== 'function' && governance.name !== undefined) throw oneNameForAll(governance.name)
  return Object.entries(given).map(([name, tool]) =>
    fromOne(tool, name, typeof governance === 'function' ? governance(name) : governance),
  )
}

function fromOne(tool: ForeignAiSdkTool, key: string | undefined, governance: AiSdkGovernance): AnyTool {
  const shown = governance.name ?? key ?? 'the tool'
  if (typeof tool?.execute !== 'function') throw notExecutable(shown, tool?.type)
  const { execute, toModelOutput, needsApproval = false } = tool
  const output = tool.outputSchema === undefined ? undefined : aiSdkSchema(tool.outputSchema, `the output of ${shown}`)
  const run = (input: unknown, ctx: BaseContext) => drain(execute(input, optionsOf(ctx)), ctx)
  const form = {
    kind: 'AI SDK tool',
    toolKind: 'ai-sdk' as const,
    name: key,
    title: tool.title,
    description: tool.description,
    input: governance.input ?? aiSdkSchema(tool.inputSchema, shown),
    doubt: needsApproval !== false && governance.needsApproval !== false ? DOUBT : undefined,
  }
  if (!toModelOutput) return defineForm({ ...form, output, execute: run }, governance)
  return defineForm(
    {
      ...form,
      async execute(input, ctx) {
        const value = await checked(await run(input, ctx), output, shown)
        const said = await toModelOutput({ toolCallId: ctx.callId, input, output: value })
        return { content: aiSdkContent(said, { content: [], output: value ?? null }), output: value ?? null }
      },
      toModel: ({ content }: { readonly content: readonly ContentBlock[] }) => content,
    },
    governance,
  )
}

const DOUBT = 'The author of the tool wants a person to look at it first (needsApproval).'

/** The options that the AI SDK passes to a tool; the conversation stays with the caller. */
function optionsOf({ callId, signal }: BaseContext) {
  return { toolCallId: callId, messages: [], abortSignal: signal }
}

/** The last value that a streaming tool yields is its output; all values are progress. */
async function drain(outcome: unknown, ctx: BaseContext): Promise<unknown> {
  if (!isAsyncIterable(outcome)) return outcome
  let last: unknown
  for await (const value of outcome) {
    if (ctx.signal.aborted) break
    last = value
    ctx.progress(showValue(value))
  }
  return last
}

/** The output is only part of the data here, so it is validated separately. */
async function checked(value: unknown, schema: AnySchema | undefined, name: string): Promise<unknown> {
  if (!schema) return value
  const result = await compileSchema(schema, { side: 'output' }).validate(value)
  if (result.ok) return result.value
  const issues = describeIssues(result.issues, 'its output')
  throw new ToolError('OUTPUT_SCHEMA_INVALID', `The output of ${name} is not usable: ${issues}`)
}

function isTool(given: ForeignAiSdkTool | Readonly<Record<string, ForeignAiSdkTool>>): given is ForeignAiSdkTool {
  const schema: unknown = given?.inputSchema
  // A set may contain a tool of this name.
  const isNested = typeof schema === 'object' && schema !== null && 'inputSchema' in schema
  return schema !== undefined && !isNested
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator] === 'function'
}

function notExecutable(name: string, type: string | undefined): ToolError {
  const why = type === 'provider' ? 'the model provider runs it itself' : 'it has no execute function'
  return new ToolError('CONFIG_INVALID', `The AI SDK tool ${name} cannot be governed here: ${why}.`, {
    hint: 'Leave it out and give it to the model as it is, or give it an execute function; what your client runs, connect with connectClient.',
  })
}

function oneNameForAll(name: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The name ${name} cannot be that of every tool of a set.`, {
    hint: 'Give a function instead, (name) => ({ name: `mail.${name}` }), or name the keys of the set as you like.',
  })
}

interface Part {
  readonly type?: string
  readonly [key: string]: unknown
}

/** Converts the result of `toModelOutput` to content blocks; throws if it is an error. */
function aiSdkContent(output: unknown, data: unknown): readonly ContentBlock[] {
  const { type, value, reason } = (output ?? {}) as Part
  switch (type) {
    case 'text':
    case 'json':
      return [{ type: 'text', text: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') }]
    case 'content':
      return Array.isArray(value) ? value.map(toBlock) : []
    case 'error-text':
    case 'error-json':
      throw new ToolError('TOOL_FAILED', showValue(value), { data })
    case 'execution-denied':
      throw new ToolError('APPROVAL_DENIED', typeof reason === 'string' ? reason : 'The tool says that it was denied.')
    default:
      throw new ToolError('OUTPUT_SCHEMA_INVALID', `toModelOutput returned the unknown type ${showValue(type)}.`, {
        hint: 'Return { type: "text", value }, or one of the other types of the AI SDK.',
      })
  }
}

function toBlock(part: Part): ContentBlock {
  const { type, text, data, url, mediaType, filename: name } = part
  if (type === 'text' && typeof text === 'string') return { type: 'text', text }
  // File ids mean something to one provider only.
  return mediaBlock({ data, url, mediaType, name }) ?? { type: 'text', text: showValue(part) }
}

/** What `jsonSchema()` of the AI SDK makes. */
interface AiSdkSchema {
  readonly jsonSchema: unknown
  readonly validate?: (value: unknown) => Validated | PromiseLike<Validated>
}

type Validated =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: Error }

/**
 * Accepts the schemas of AI SDK tools: zod, Standard Schema, `jsonSchema()`, or a function that creates one on demand.
 */
function aiSdkSchema(schema: unknown, what: string): AnySchema {
  if (schema === undefined || schema === null) return NO_ARGUMENTS
  if (typeof schema === 'function' && !('~standard' in schema)) return aiSdkSchema(schema(), what)
  return isAiSdkSchema(schema) ? unwrap(schema, what) : acceptSchema(schema, what)
}

function isAiSdkSchema(schema: unknown): schema is AiSdkSchema {
  return typeof schema === 'object' && schema !== null && MARK in schema
}

function unwrap(schema: AiSdkSchema, what: string): AnySchema {
  const { jsonSchema } = schema
  if (isPromise(jsonSchema)) {
    throw new ToolError('CONFIG_INVALID', `The schema of ${what} is not there yet: it is made by a promise.`, {
      hint: 'Await it first, and give it in the option input.',
    })
  }
  const json = acceptSchema(jsonSchema, what) as JsonSchema
  return schema.validate ? checkedBy(schema.validate, json) : json
}

/** If the author wrote a `validate` function, it decides, as in the AI SDK. */
function checkedBy(validate: NonNullable<AiSdkSchema['validate']>, json: JsonSchema): StandardSchema {
  const show = () => json as Record<string, unknown>
  return {
    '~standard': {
      version: 1,
      vendor: 'ai-sdk',
      validate: (value) => {
        const result = validate(value)
        return isPromise(result) ? Promise.resolve(result).then(toStandard) : toStandard(result)
      },
      jsonSchema: { input: show, output: show },
    },
  }
}

function toStandard(result: Validated): StandardResult<unknown> {
  if (result.success) return { value: result.value }
  return { issues: [{ message: result.error?.message ?? 'does not fit' }] }
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
