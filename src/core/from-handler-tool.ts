import { isPlainObject } from '../lib/is-plain-object.ts'
import { parseAmount, TIME_UNITS } from '../lib/parse-amount.ts'
import { type AnyTool, type BaseContext, type Capability, defineTool, type Targets } from './define.ts'
import { ToolError } from './errors.ts'
import type { Governance } from './from-agent-tool.ts'
import type { JsonSchema } from './schema/infer.ts'
import { toolFailure } from './tool-failure.ts'

/** What a handler answers: a text for the model, whether it is an error, and what only the program needs. */
export interface HandlerOutput {
  /** What the model gets. */
  readonly content: string
  /** `true` ends the call with `TOOL_FAILED` and the content as its message. Default: `false`. */
  readonly is_error?: boolean
  /** For the program; no model sees it. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** A tool as a definition with a handler. */
export interface HandlerTool {
  /** Becomes the canonical name: letters, digits, `_` and `-` in parts joined by `/` or `.`, at most 64. */
  readonly name: string
  /** When to use it, for the model. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: object
  /** Does the work; `ctx.signal` says when to stop. What it throws is a failed call for the model. */
  // biome-ignore lint/suspicious/noExplicitAny: the arguments' type is the author's; they are validated by their schema
  handler(ctx: BaseContext, args: any): HandlerOutput | Promise<HandlerOutput>
  /** For catalogues; no rule looks at it. */
  readonly category?: string
  /** For catalogues; no rule looks at them. */
  readonly tags?: readonly string[]
  /** For catalogues, in any form. */
  readonly version?: string
  /** Milliseconds, or a text with a unit: `10s`. */
  readonly default_timeout?: number | string
  /** The most characters of the content that a model gets. */
  readonly max_output_size?: number
  /** What the tool touches. Default: `['exec']`, which policy denies until a rule allows it. */
  readonly capabilities?: readonly Capability[]
  /** What a call will touch, by capability; policy decides on it. Default: judged without a target. */
  // biome-ignore lint/suspicious/noExplicitAny: the arguments' type is the author's; they are validated by their schema
  readonly targets?: (args: any) => Targets
}

/** True for what `fromHandlerTool` takes. */
export function isHandlerTool(tool: unknown): tool is HandlerTool {
  return typeof tool === 'object' && tool !== null && 'handler' in tool && !('execute' in tool)
}

/**
 * Takes a tool in that has `parameters` and a `handler`. If it does not declare what it touches, it counts as able to
 * run commands: policy denies it until a rule of yours allows it.
 * @example
 * hub.registry.register({ name: 'greet', description: 'Greets.', parameters, handler: (ctx, { name }) => ({ content: `Hi ${name}`, is_error: false }) })
 */
export function fromHandlerTool(tool: HandlerTool, governance: Governance<unknown> = {}): AnyTool {
  const { name, description, parameters, category, tags, version, default_timeout, max_output_size } = tool
  if (typeof tool.handler !== 'function') throw unusable(`The handler of ${name} is not a function.`)
  return defineTool({
    ...{ name, description, category, tags, version },
    kind: 'handler',
    input: parameters as JsonSchema,
    capabilities: governance.capabilities ?? tool.capabilities ?? ['exec'],
    targets: (governance.targets ?? tool.targets) as ((args: unknown) => Targets) | undefined,
    timeoutMs: default_timeout === undefined ? undefined : timeoutOf(name, default_timeout),
    maxOutputChars: max_output_size === undefined ? undefined : sizeOf(name, max_output_size),
    execute: (args: unknown, ctx: BaseContext) => run(tool, args, ctx),
    toModel: ({ content }) => content,
  }) as AnyTool
}

async function run(tool: HandlerTool, args: unknown, ctx: BaseContext): Promise<HandlerOutput> {
  const output = readOutput(tool.name, await attempt(tool, args, ctx))
  if (!output.is_error) return output
  throw new ToolError('TOOL_FAILED', output.content, { data: output })
}

async function attempt(tool: HandlerTool, args: unknown, ctx: BaseContext): Promise<unknown> {
  try {
    return await tool.handler(ctx, args)
  } catch (thrown) {
    throw toolFailure(tool.name, thrown)
  }
}

function readOutput(name: string, output: unknown): HandlerOutput {
  if (isPlainObject(output) && typeof output.content === 'string') {
    const { content, is_error = false, metadata } = output as unknown as HandlerOutput
    return { content, is_error: is_error === true, ...(metadata && { metadata }) }
  }
  throw new ToolError('OUTPUT_SCHEMA_INVALID', `The handler of ${name} returned no content.`, {
    hint: 'Return { content, is_error, metadata }, with a text as content.',
  })
}

function timeoutOf(name: string, given: number | string): number {
  const timeoutMs = typeof given === 'number' ? given : parseAmount(given, TIME_UNITS)
  if (Number.isSafeInteger(timeoutMs) && timeoutMs! >= 1) return timeoutMs!
  throw unusable(`default_timeout of ${name} is ${JSON.stringify(given)}: use milliseconds, or a text such as "10s".`)
}

function sizeOf(name: string, given: number): number {
  if (Number.isSafeInteger(given) && given >= 1) return given
  throw unusable(`max_output_size of ${name} is ${JSON.stringify(given)}: use a number of characters, 1 or more.`)
}

function unusable(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, {
    hint: 'Give { name, description, parameters, handler }, and if you like default_timeout and max_output_size.',
  })
}
