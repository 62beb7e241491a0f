import type { ToolResult } from './call.ts'
import { ToolError } from './errors.ts'
import type { CallEvent } from './events.ts'
import { toolFailure } from './failures.ts'
import { type AgentTool, fromAgentTool, type Governance } from './from-agent-tool.ts'
import { isPlainObject, parseAmount, TIME_UNITS } from './lib/index.ts'
import { didYouMean } from './names.ts'
import type { Infer, JsonSchema } from './schema/schema.ts'
import { type AnyTool, type BaseContext, type Capability, defineTool, type Targets } from './tool.ts'

/** What a hook sees of a call. */
export interface CallView {
  /** Id of the call, as results, events and records name it. */
  readonly callId: string
  /** Id of the run that the call belongs to. */
  readonly run: string
  /** The canonical name, whatever name was called. */
  readonly tool: string
  /** The name that was called: canonical, wire or dialect name. */
  readonly wire: string
  /** The arguments; in `before` as the caller sent them, afterwards validated and with defaults. */
  readonly input: unknown
  /** What the call will touch; empty in `before`, where it is not known yet. */
  readonly targets: readonly ResolvedTarget[]
  /** Who calls, as the caller says: `library`, `cli:anna`. */
  readonly caller: string
  /** Of the request of the caller, as it says. */
  readonly requestId?: string
  /** Of the task of the caller, as it says. */
  readonly taskId?: string
  /** Of the goal of the caller, as it says. */
  readonly goalId?: string
}

/** A target after the guards looked at it: the real path, the normal form of the URL. */
export interface ResolvedTarget {
  /** The capability that the call uses on the target. */
  readonly capability: Capability
  /** The real path, the normalized URL or the command line. */
  readonly value: string
}

/** Allow, ask or deny. */
export type Effect = 'allow' | 'ask' | 'deny'

/** Code of the owner at four places of the pipeline; a hook that fails or hangs blocks the call. */
export interface Hooks {
  /** Tools it looks at: names, `group:…`, capabilities, globs. Default: all. */
  readonly match?: string | readonly string[]
  /** Lower runs first. Default: 0. */
  readonly order?: number
  /** How long each function may take; then the call is blocked with `POLICY_DENIED`. Default: 5 s. */
  readonly timeoutMs?: number
  /** May rewrite the input, which is validated after. */
  readonly before?: (call: CallView) => void | { input: unknown } | Promise<void | { input: unknown }>
  /** May only tighten the decision. */
  readonly decide?: (call: CallView, effect: Effect) => Effect | void | Promise<Effect | void>
  /** May change the data, which is checked against the output schema again. */
  readonly after?: (call: CallView, result: ToolResult) => void | { data: unknown } | Promise<void | { data: unknown }>
  /** Observes the end of a call; cannot change it. */
  readonly settled?: (call: CallView, result: ToolResult) => void | Promise<void>
  /**
   * `before` in the form of the engine format: returns the input to use instead, or nothing. `name` is the canonical name,
   * whichever name was called: `core/exec.run`, never `exec`.
   */
  readonly beforeToolCall?: (name: string, input: unknown, call: CallView) => unknown
  /** `after` in the form of the engine format: returns the data to use instead, or nothing. */
  readonly afterToolCall?: (name: string, input: unknown, output: unknown, call: CallView) => unknown
}

/** The hook names, in the order they fire. */
export const HOOK_NAMES = ['before', 'decide', 'after', 'settled'] as const

/** What a plugin's `setup` may do. */
export interface PluginApi {
  /** Takes an AgentTool as it is; the types of its parameters follow from their schema. */
  registerTool<S extends JsonSchema>(
    tool: Omit<AgentTool<Infer<S>>, 'parameters'> & {
      /** JSON Schema of the arguments, or one that TypeBox built. */
      readonly parameters: S
    },
  ): void
  /** Takes a tool, an AgentTool, or a definition with a handler as it is. */
  registerTool(tool: AnyTool | AgentTool | HandlerTool): void
  /** Adds hooks, as if they were listed in the plugin's `hooks`. */
  addHooks(hooks: Hooks): void
  /** Calls the listener for every event of every call. Returns a function that removes it. */
  onEvent(listener: (event: CallEvent) => void): () => void
}

/** Tools and hooks that come together. */
export interface Plugin {
  /** Names the plugin in errors and warnings. */
  readonly name: string
  /** Tools to register; they win over built-in tools of the same name and lose against the owner's. */
  readonly tools?: readonly AnyTool[]
  /** Code that runs at four places of every call it matches. */
  readonly hooks?: Hooks | readonly Hooks[]
  /** Runs once before the first call, for what takes time or is conditional; calls wait for it. */
  readonly setup?: (api: PluginApi) => void | Promise<void>
  /**
   * Whether all calls fail while it has failed to set up. Default: true for a plugin with hooks, which may guard
   * something, false for others.
   */
  readonly required?: boolean
  /** Releases what `setup` opened; called when the hub closes. */
  readonly close?: () => void | Promise<void>
}

const PLUGIN_KEYS: Readonly<Record<keyof Required<Plugin>, true>> = {
  name: true,
  tools: true,
  hooks: true,
  setup: true,
  required: true,
  close: true,
}

/**
 * Throws CONFIG_INVALID for a key that no plugin has: a mistyped `hook` would silently remove a guard. Instances of
 * classes keep their own fields.
 */
export function checkPluginKeys(plugin: object): void {
  const known = Object.keys(PLUGIN_KEYS)
  const stranger = isPlainObject(plugin) && Object.keys(plugin).find((key) => !known.includes(key))
  if (!stranger) return
  const { name } = plugin as Partial<Plugin>
  const whose = typeof name === 'string' ? `The plugin ${name}` : 'A plugin'
  throw new ToolError('CONFIG_INVALID', `${whose} has no option ${JSON.stringify(stranger)}.`, {
    hint: didYouMean(stranger, known) || `A plugin has ${known.join(', ')}; keep anything else in the module.`,
  })
}

/** Gives a plugin its type and freezes it. */
export function definePlugin<const P extends Plugin>(plugin: P): P {
  return Object.freeze(plugin)
}

/** What a handler returns: a text for the model, whether it is an error, and metadata for the program. */
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

/** Converts any of the forms that a plugin may register into a tool. */
export function asTool(tool: AnyTool | AgentTool | HandlerTool): AnyTool {
  if (isHandlerTool(tool)) return fromHandlerTool(tool)
  return 'parameters' in tool ? fromAgentTool(tool) : tool
}

/**
 * Converts a tool that has `parameters` and a `handler`. If it does not declare what it touches, it counts as able to
 * run commands: policy denies it until a rule of yours allows it.
 * @example
 * hub.registry.register({
 *   name: 'greet',
 *   description: 'Greets.',
 *   parameters,
 *   handler: (ctx, { name }) => ({ content: `Hi ${name}`, is_error: false }),
 * })
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
    const metadata = output.metadata as HandlerOutput['metadata']
    return { content: output.content, is_error: output.is_error === true, ...(metadata && { metadata }) }
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
