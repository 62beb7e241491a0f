import type { BrowserHandle } from './contracts/browser.ts'
import type { CanvasHandle } from './contracts/canvas.ts'
import type { Commands, CommandTarget } from './contracts/commands.ts'
import type { GuardedFetch, ReadFiles, WriteFiles } from './contracts/handles.ts'
import type { MemoryHandle } from './contracts/memory.ts'
import type { MessageHandle } from './contracts/messages.ts'
import type { ScheduleHandle } from './contracts/schedules.ts'
import type { SessionHandle } from './contracts/sessions.ts'
import type { AgentTool } from './from-agent-tool.ts'
import type { HandlerTool } from './from-handler-tool.ts'
import type { Artifact, CallEvent, Content, Evidence, ToolResult } from './result.ts'
import type { AnySchema, Infer, InferInput, JsonSchema } from './schema/infer.ts'

/** What a tool may need of the world. A tool without capabilities is pure and runs unasked. */
export const CAPABILITIES = [
  'read:fs',
  'write:fs',
  'network',
  'send',
  'exec',
  'memory',
  'session',
  'message',
  'schedule',
  'browser',
  'canvas',
  // Acts through somebody the hub only talks to: an MCP server, a client.
  'remote',
  'danger:destructive',
] as const

/** One of the capabilities a tool declares to receive its handle. */
export type Capability = (typeof CAPABILITIES)[number]

/**
 * Capabilities whose doors tell when a call first changes something; until then a repeated call does no harm and its
 * record needs no fsync.
 */
export const GUARDED: ReadonlySet<Capability> = new Set(
  CAPABILITIES.filter((capability) => capability !== 'remote' && capability !== 'danger:destructive'),
)

/**
 * What a call will touch, by capability: paths, URLs, commands. An empty list says that this call does not use the
 * capability; one that is left out is judged without a target. A command is a line for bash, or words without a shell.
 */
export type Targets<C extends string = Capability> = {
  readonly [K in C]?: string | readonly string[] | (K extends 'exec' ? CommandTarget : never)
}

/** What `targets` may ask about the world. */
export interface Known {
  /** There is a file whose content this run has not read: replacing it destroys something. */
  isUnread(path: string): boolean
}

/** Who may call a tool: an agent directly, or a script that the model wrote. */
export type CallerKind = 'direct' | 'script'

/** How to shorten a text for the model when it is over the limit; the whole becomes an artifact. */
export type Overflow = 'head' | 'tail' | 'middle' | 'artifact'

/** What `toModel` may use, if it wants to choose itself what is left out; longer text is shortened as `overflow` says. */
export interface ModelLimit {
  /** The most characters of text that the model gets of this call. */
  readonly maxChars: number
}

/** Says that repeating `execute` is safe, and how often; only retryable errors are repeated. */
export interface Retry {
  readonly attempts: number
  readonly baseMs?: number
}

/** Values that tools of one run share: bounded, in memory, gone with the run. */
export interface RunCache {
  get(key: string): { readonly value: unknown; readonly expiresAt: number | undefined } | undefined
  set(key: string, value: unknown, options?: { readonly ttlMs?: number }): { readonly bytes: number }
}

/** A question to the person behind the agent. Never for secrets. */
export interface Question {
  readonly question: string
  readonly context?: string
  readonly options?: readonly string[]
  /** Taken when nobody answers in time. */
  readonly defaultAnswer?: string
  readonly timeoutMs?: number
  /** Asks for several values at once: a flat object of texts, numbers, yes or no, and choices. */
  readonly form?: JsonSchema
}

/** What the person said, or the default that stood in. */
export interface Answer {
  /** Empty for a form. */
  readonly answer: string
  /** What was filled in, for a form; checked against it. */
  readonly values?: Readonly<Record<string, unknown>>
  readonly isDefault: boolean
}

/** What every tool gets. */
export interface BaseContext {
  readonly callId: string
  readonly run: string
  /** Aborts when the caller stops, the time is over or the budget is spent. Pass it on. */
  readonly signal: AbortSignal
  readonly cache: RunCache
  /** The longest text the owner wants a model to see, in characters. */
  readonly maxOutputChars: number
  /** Bounds that the deciding rule set for this call; a tool that reads or lists keeps to them. */
  readonly constraints: { readonly maxBytes?: number; readonly maxResults?: number }
  now(): number
  progress(update: Content): void
  evidence(evidence: Evidence): void
  /** Tells the caller something beside the result; goes to `meta.notices`. */
  notice(text: string): void
  /** The same, and marks the result as cut: `meta.truncated`. */
  truncated(notice: string): void
  /** Keeps something large out of the result; gives back its reference. */
  artifact(
    content: string | Uint8Array,
    options?: { readonly name?: string; readonly mediaType?: string },
  ): Promise<Artifact>
  /** Says that the call now waits for somebody else, such as the client that executes it; the caller hears `call-pending`. */
  pending(message: string): void
  /** Asks the person behind the agent; fails at once when nobody can be asked. */
  ask(question: Question): Promise<Answer>
  /** Calls another tool down the same road, under this call's budget and signal. */
  call<T extends AnyTool>(tool: T, input: ToolInput<T>): Promise<ToolResult<ToolOutput<T>>>
  call(tool: string, input: unknown): Promise<ToolResult>
}

/** The context of a tool with the capabilities `C`: a handle that was not declared is not there. */
export type Context<C extends Capability = never> = BaseContext &
  ('read:fs' extends C ? { readonly fs: ReadFiles } : unknown) &
  ('write:fs' extends C ? { readonly fs: WriteFiles } : unknown) &
  ('network' extends C ? { readonly fetch: GuardedFetch } : unknown) &
  ('exec' extends C ? { readonly exec: Commands } : unknown) &
  ('memory' extends C ? { readonly memory: MemoryHandle } : unknown) &
  ('session' extends C ? { readonly sessions: SessionHandle } : unknown) &
  ('message' extends C ? { readonly messages: MessageHandle } : unknown) &
  ('schedule' extends C ? { readonly schedules: ScheduleHandle } : unknown) &
  ('browser' extends C ? { readonly browser: BrowserHandle } : unknown) &
  ('canvas' extends C ? { readonly canvas: CanvasHandle } : unknown)

/** What a tool gets that may only look: it changes nothing, and its reads do not count as the run's. */
export interface ReadContext {
  readonly fs: ReadFiles
  readonly signal: AbortSignal
}

/** What a call would make of one text file. */
export interface TextChange {
  readonly path: string
  /** Where the file goes, when it is moved. */
  readonly movedTo?: string
  /** Undefined for a file that is not there yet. */
  readonly before: string | undefined
  /** Undefined for a file that would be gone. */
  readonly after: string | undefined
}

/** Another wire form of the same tool: its own name and arguments, one canonical call. */
export interface Dialect {
  readonly name: string
  /** Further names that mean the same; lists show only `name`. */
  readonly aliases?: readonly string[]
  /** Other spellings of arguments, and the ones they stand for: `{ file_path: 'path' }`. */
  readonly argumentAliases?: Readonly<Record<string, string>>
  /** Refuses arguments by how they are spelled, before that is forgotten: throws a `ToolError`. */
  readonly checkSpelling?: (args: Readonly<Record<string, unknown>>) => void
  readonly description?: string
  /** Schema of the wire arguments; the tool's own when absent. */
  readonly input?: AnySchema
  /** The most characters of text that a model gets of a call by this name; the tool's own when absent. */
  readonly maxOutputChars?: number
  /** How long a call by this name may take; the tool's own when absent. */
  readonly timeoutMs?: number
  // biome-ignore lint/suspicious/noExplicitAny: wire arguments were checked by `input`; their type is the author's
  readonly toInput?: (args: any) => unknown
  // biome-ignore lint/suspicious/noExplicitAny: data was checked by the output schema; its type is the author's
  readonly toModel?: (data: any, limit: ModelLimit) => Content
}

declare const TYPES: unique symbol

/** A tool as the hub holds it: frozen facts, no behaviour but `execute`. */
export interface Tool<Name extends string = string, I = unknown, O = unknown, CallI = I> {
  readonly name: Name
  readonly title?: string
  readonly description: string
  readonly input: AnySchema
  readonly output?: AnySchema
  readonly capabilities: readonly Capability[]
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly targets?: (input: any, known: Known) => Targets
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly preview?: (input: any, ctx: ReadContext) => readonly TextChange[] | Promise<readonly TextChange[]>
  readonly retry?: Retry
  readonly callers?: readonly CallerKind[]
  readonly timeoutMs?: number
  readonly overflow?: Overflow
  readonly maxOutputChars?: number
  readonly examples?: ReadonlyArray<{ readonly input: unknown; readonly note?: string }>
  readonly dialects?: Readonly<Record<string, Dialect>>
  readonly category?: string
  readonly group?: string
  readonly tags?: readonly string[]
  readonly version?: string
  readonly costUnits?: number
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly circuit?: (input: any, run: string) => string
  readonly override?: boolean
  readonly doubt?: string
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly execute: (input: any, ctx: any) => unknown
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly toModel?: (output: any, limit: ModelLimit) => Content
  readonly [TYPES]?: { readonly input: I; readonly output: O; readonly call: CallI }
}

// biome-ignore lint/suspicious/noExplicitAny: any tool, whatever its types
export type AnyTool = Tool<string, any, any, any>

/** What a caller passes to the tool. */
// biome-ignore lint/suspicious/noExplicitAny: infers one of the four
export type ToolInput<T> = T extends Tool<string, any, any, infer C> ? C : never

/** What the tool gives back as `data`. */
// biome-ignore lint/suspicious/noExplicitAny: infers one of the four
export type ToolOutput<T> = T extends Tool<string, any, infer O, any> ? O : never

/** What an author writes; see docs/contract.md for each field. */
export interface ToolDefinition<
  Name extends string,
  In extends AnySchema,
  Out extends AnySchema | undefined,
  Caps extends readonly Capability[],
  R,
> {
  /** `namespace/area.verbNoun`, e.g. `core/fs.readText`. */
  name: Name
  title?: string
  /** When to use it, then when not to. Read by models. */
  description: string
  input: In
  output?: Out
  capabilities?: Caps
  /** What this call will touch, told before it happens; policy decides on it. */
  targets?: (input: Infer<In>, known: Known) => Targets<Caps[number]>
  /** What the call would make of text files, for the person who is asked; called only then, and may look only at its targets. */
  preview?: (input: Infer<In>, ctx: ReadContext) => readonly TextChange[] | Promise<readonly TextChange[]>
  retry?: Retry
  /** `direct` and `script` unless said; destructive tools: `direct` only. */
  callers?: readonly CallerKind[]
  timeoutMs?: number
  overflow?: Overflow
  maxOutputChars?: number
  examples?: ReadonlyArray<{ readonly input: InferInput<In>; readonly note?: string }>
  dialects?: Readonly<Record<string, Dialect>>
  category?: string
  /** `group:<name>` in rules; the part of the name before the first `.` unless said. */
  group?: string
  tags?: readonly string[]
  version?: string
  /** What one call takes from a `cost` budget. */
  costUnits?: number
  /** What its failures are about, a channel or a run: after several in a row only calls about the same are paused, not all of the tool. */
  circuit?: (input: Infer<In>, run: string) => string
  /** Needed to take the place of a built-in tool of the same name, whose capabilities it then has too. */
  override?: boolean
  /** Why its definition is not trusted now, e.g. that a server changed it; while there is one, every call asks and shows it. */
  doubt?: string
  execute: (
    input: Infer<In>,
    ctx: Context<Caps[number]>,
  ) => [Out] extends [undefined] ? R | Promise<R> : Infer<Out> | Promise<Infer<Out>>
  /** The short form for a model; the data as JSON unless said. */
  toModel?: (output: NoInfer<[Out] extends [undefined] ? R : Infer<Out>>, limit: ModelLimit) => Content
}

/**
 * Defines a tool: states its facts, freezes them, infers its types.
 * @example
 * const shout = defineTool({
 *   name: 'text.shout',
 *   description: 'Write a text in capitals.',
 *   input: z.strictObject({ text: z.string() }),
 *   execute: ({ text }) => ({ text: text.toUpperCase() }),
 * })
 */
export function defineTool<
  const Name extends string,
  const In extends AnySchema,
  const Out extends AnySchema | undefined = undefined,
  const Caps extends readonly Capability[] = readonly [],
  R = unknown,
>(
  definition: ToolDefinition<Name, In, Out, Caps, R>,
): Tool<Name, Infer<In>, [Out] extends [undefined] ? R : Infer<Out>, InferInput<In>> {
  return Object.freeze({ ...definition, capabilities: Object.freeze([...(definition.capabilities ?? [])]) }) as never
}

/** What a hook sees of a call. */
export interface CallView {
  readonly callId: string
  readonly run: string
  readonly tool: string
  readonly wire: string
  readonly input: unknown
  readonly targets: readonly ResolvedTarget[]
  readonly caller: string
}

/** A target after the guards looked at it: the real path, the normal form of the URL. */
export interface ResolvedTarget {
  readonly capability: Capability
  readonly value: string
}

/** Allow, ask or deny. */
export type Effect = 'allow' | 'ask' | 'deny'

/** Code that the owner runs at four places of the road; a hook that fails or hangs blocks the call. */
export interface Hooks {
  /** Tools it looks at: names, `group:…`, capabilities, globs; all unless said. */
  readonly match?: string | readonly string[]
  /** Lower runs first; 0 unless said. */
  readonly order?: number
  readonly timeoutMs?: number
  /** May rewrite the input, which is validated after. */
  readonly before?: (call: CallView) => void | { input: unknown } | Promise<void | { input: unknown }>
  /** May only tighten the decision. */
  readonly decide?: (call: CallView, effect: Effect) => Effect | void | Promise<Effect | void>
  /** May change the data, which is checked against the output schema again. */
  readonly after?: (call: CallView, result: ToolResult) => void | { data: unknown } | Promise<void | { data: unknown }>
  /** May only look. */
  readonly settled?: (call: CallView, result: ToolResult) => void | Promise<void>
}

/** The hook names, in the order they fire. */
export const HOOK_NAMES = ['before', 'decide', 'after', 'settled'] as const

/** What a plugin's `setup` may do. */
export interface PluginApi {
  /** Takes a tool, an AgentTool, or a definition with a handler as it is. */
  registerTool(tool: AnyTool | AgentTool | HandlerTool): void
  addHooks(hooks: Hooks): void
  onEvent(listener: (event: CallEvent) => void): () => void
}

/** Tools and hooks that come together. */
export interface Plugin {
  readonly name: string
  readonly tools?: readonly AnyTool[]
  readonly hooks?: Hooks | readonly Hooks[]
  readonly setup?: (api: PluginApi) => void | Promise<void>
  /** While it has failed no call passes. So it is for one with hooks, which may guard something; others fail alone unless said. */
  readonly required?: boolean
  readonly close?: () => void | Promise<void>
}

/** Gives a plugin its type and freezes it. */
export function definePlugin<const P extends Plugin>(plugin: P): P {
  return Object.freeze(plugin)
}
