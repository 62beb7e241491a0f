import type { Content } from './call.ts'
import type { CallerKind, Capability } from './capability.ts'
import type { CommandTarget } from './commands.ts'
import type { Context, ReadContext, TextChange } from './context.ts'
import type { AnySchema, Infer, InferInput } from './schema/schema.ts'

export { CAPABILITIES, type CallerKind, type Capability, GUARDED } from './capability.ts'
export type { Answer, BaseContext, Context, Question, ReadContext, RunCache, TextChange } from './context.ts'

/**
 * What a call will touch, by capability: paths, URLs, commands. An empty list says that this call does not use the
 * capability; one that is left out is judged without a target. A command is a line for bash, or words without a shell.
 */
export type Targets<C extends string = Capability> = {
  readonly [K in C]?: string | readonly string[] | (K extends 'exec' ? CommandTarget : never)
}

/** What `targets` may ask about files. */
export interface TargetFacts {
  /** Whether there is a file whose content this run has not read: replacing it destroys something. */
  isUnread(path: string): boolean
}

/** How to shorten a text for the model when it is over the limit; the whole becomes an artifact. */
export type Overflow = 'head' | 'tail' | 'middle' | 'artifact'

/**
 * What `toModel` may use, if it wants to choose itself what is left out; longer text is shortened as `overflow` says.
 */
export interface ModelLimit {
  /** The most characters of text that the model gets of this call. */
  readonly maxChars: number
}

/** Says that repeating `execute` is safe, and how often; only retryable errors are repeated. */
export interface Retry {
  /** How often `execute` runs at most, the first time included. */
  readonly attempts: number
  /**
   * Longest wait before the second attempt, in milliseconds; doubled for each further one, at most 30 s. Default: 200.
   */
  readonly baseMs?: number
}

/** Another wire form of the same tool: its own name and arguments, one canonical call. */
export interface Dialect {
  /** The name that models call, letters, digits, `_` and `-`, at most 64; no other tool may have it. */
  readonly name: string
  /** Further names that mean the same; lists show only `name`. */
  readonly aliases?: readonly string[]
  /** Other spellings of arguments, and the ones they stand for: `{ file_path: 'path' }`. */
  readonly argumentAliases?: Readonly<Record<string, string>>
  /** Refuses arguments by their spelling, before they are renamed: throws a `ToolError`. */
  readonly checkSpelling?: (args: Readonly<Record<string, unknown>>) => void | Promise<void>
  /** What models read instead of the tool's own description. Default: the tool's own. */
  readonly description?: string
  /** Schema of the wire arguments; the tool's own when absent. */
  readonly input?: AnySchema
  /** The most characters of text that a model gets of a call by this name; the tool's own when absent. */
  readonly maxOutputChars?: number
  /** How long a call by this name may take; the tool's own when absent. */
  readonly timeoutMs?: number
  /** Turns the wire arguments into the tool's input. Default: they are the input. */
  // biome-ignore lint/suspicious/noExplicitAny: wire arguments were checked by `input`; their type is the author's
  readonly toInput?: (args: any) => unknown
  /** The short form for a model that called by this name. Default: the tool's own `toModel`. */
  // biome-ignore lint/suspicious/noExplicitAny: data was checked by the output schema; its type is the author's
  readonly toModel?: (data: any, limit: ModelLimit) => Content
}

declare const TYPES: unique symbol

/** The form in which a tool was defined: `core` for built-in tools, `function` for those of `defineTool`. */
export type ToolKind =
  | 'core'
  | 'function'
  | 'skill'
  | 'plugin'
  | 'script'
  | 'mcp'
  | 'openapi'
  | 'client'
  | 'langchain'
  | 'ai-sdk'
  | 'openai'
  | 'agent-tool'
  | 'handler'

/** A tool as the hub stores it: a frozen description and `execute`. */
export interface Tool<Name extends string = string, I = unknown, O = unknown, CallI = I> {
  /** The canonical name, which policy, limits and records use. */
  readonly name: Name
  /** A short name for people; absent when the author gave none. */
  readonly title?: string
  /** When to use the tool, then when not to. Read by models. */
  readonly description: string
  /** Schema of the arguments, checked before anything else happens. */
  readonly input: AnySchema
  /** Schema of `data`; absent when the tool does not declare one and any JSON value passes. */
  readonly output?: AnySchema
  /** What the tool declared to need; empty for a pure tool. */
  readonly capabilities: readonly Capability[]
  /** What a call will touch, by capability; policy decides on it before the call runs. */
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly targets?: (input: any, known: TargetFacts) => Targets
  /** What a call would change in text files, for the approver. */
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly preview?: (input: any, ctx: ReadContext) => readonly TextChange[] | Promise<readonly TextChange[]>
  /** How often `execute` may be repeated; absent when repeating is not safe. */
  readonly retry?: Retry
  /** Who may call it. Default: `direct` and `script`; destructive tools: `direct` only. */
  readonly callers?: readonly CallerKind[]
  /** Longest time of one call with all its attempts. Default: `limits.timeoutMs` of the hub. */
  readonly timeoutMs?: number
  /** Which part of a text over the limit is kept for the model. Default: `middle` is cut out. */
  readonly overflow?: Overflow
  /**
   * Characters of text that a model gets of one call. Default: 30,000; the owner's `limits.outputChars` can only lower
   * it.
   */
  readonly maxOutputChars?: number
  /** Inputs that work, each with an optional note. */
  readonly examples?: ReadonlyArray<{ readonly input: unknown; readonly note?: string }>
  /** Other wire forms of the tool, by the name of the dialect. */
  readonly dialects?: Readonly<Record<string, Dialect>>
  /** For catalogues; no rule looks at it. */
  readonly category?: string
  /** What listings call the form that it came in. Default: `function`. */
  readonly kind?: Exclude<ToolKind, 'core'>
  /** `group:<name>` in rules and lists. Default: from the name, `notes.save` is in `group:notes`. */
  readonly group?: string
  /** For catalogues; no rule looks at them. */
  readonly tags?: readonly string[]
  /** For catalogues, in any form. */
  readonly version?: string
  /** What one call takes from a `cost` budget. Default: 0. */
  readonly costUnits?: number
  /**
   * What a failure is about; several failures in a row pause only the calls about the same. Default: all calls of the
   * tool.
   */
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly circuit?: (input: any, run: string) => string
  /** Which workers execute its calls, e.g. `worker:gpu`. Default: the process of the run does. */
  readonly where?: string
  /** Whether it may replace a built-in tool of the same name. */
  readonly override?: boolean
  /** Why its definition is not trusted now; every call then needs approval. */
  readonly doubt?: string
  /** Whether its results count as content from outside. Default: those of calls that use the network or another system. */
  readonly results?: 'own' | 'outside'
  /** Whether it may delete or overwrite something that no capability shows: what the user named still asks in a tainted run. */
  readonly mayDestroy?: boolean
  /**
   * The argument without which a call only says what it would do. `explain` then also says what the confirmed call would
   * need.
   */
  readonly confirmedBy?: string
  /** Its arguments that are texts for people, by name. Default: those called `body`, `subject`, `text` and the like. */
  readonly texts?: readonly string[]
  /** Its arguments for which the user's words are evidence, by name. Default: those that are called like a target. */
  readonly evidence?: readonly string[]
  /**
   * Returns the call that a call of this tool stands for. The hub makes that one instead: rules, approvals, limits and
   * records see nothing else. Absent for a tool that does something itself.
   */
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly standsFor?: (input: any) => { readonly tool: string; readonly input: unknown }
  /** The function of the tool. Call it through the hub only: by itself it checks and records nothing. */
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly execute: (input: any, ctx: any) => unknown
  /** The short form for a model. Default: the data as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema's type in defineTool
  readonly toModel?: (output: any, limit: ModelLimit) => Content
  readonly [TYPES]?: { readonly input: I; readonly output: O; readonly call: CallI }
}

// biome-ignore lint/suspicious/noExplicitAny: any tool, whatever its types
export type AnyTool = Tool<string, any, any, any>

/** What a caller passes to the tool. */
// biome-ignore lint/suspicious/noExplicitAny: infers one of the four
export type ToolInput<T> = T extends Tool<string, any, any, infer C> ? C : never

/** What the tool returns as `data`. */
// biome-ignore lint/suspicious/noExplicitAny: infers one of the four
export type ToolOutput<T> = T extends Tool<string, any, infer O, any> ? O : never

/** What an author writes; see docs/reference/contract.md for each field. */
export interface ToolSpec<
  Name extends string,
  In extends AnySchema,
  Out extends AnySchema | undefined,
  Caps extends readonly Capability[],
  R,
> {
  /** `namespace/area.verbNoun`, e.g. `core/fs.readText`. */
  name: Name
  /** A short name for people, in lists and approval requests. Default: none; they show `name`. */
  title?: string
  /** When to use it, then when not to. Read by models. */
  description: string
  /**
   * Schema of the arguments: zod 4, another Standard Schema, TypeBox or JSON Schema. Arguments that do not match never
   * reach `execute`.
   */
  input: In
  /**
   * Schema of what `execute` returns; a mismatch ends the call with `OUTPUT_SCHEMA_INVALID`. Default: any JSON value.
   */
  output?: Out
  /**
   * What the tool needs: `read:fs` and `write:fs` add `ctx.fs`, `network` adds `ctx.fetch`, `exec` adds `ctx.exec`, and
   * so on. Default: none; the tool is pure and runs without an approval.
   */
  capabilities?: Caps
  /** Declares what this call will touch before it does; policy decides on it. */
  targets?: (input: Infer<In>, known: TargetFacts) => Targets<Caps[number]>
  /**
   * What the call would change in text files, for the approver. Called only if approval is needed; can read only its
   * targets.
   */
  preview?: (input: Infer<In>, ctx: ReadContext) => readonly TextChange[] | Promise<readonly TextChange[]>
  /** Declares that repeating `execute` is safe, and how often; only retryable errors are repeated. Default: never. */
  retry?: Retry
  /** Default: `direct` and `script`; for destructive tools `direct` only. */
  callers?: readonly CallerKind[]
  /**
   * Longest time of one call with all its attempts, in milliseconds; then `ctx.signal` aborts. Default:
   * `limits.timeoutMs` of the hub, 60 s.
   */
  timeoutMs?: number
  /**
   * Which part of a text over `maxOutputChars` the model gets; the whole becomes an artifact. Default: `middle`, which
   * cuts the middle out.
   */
  overflow?: Overflow
  /**
   * Characters of text that a model gets of one call. Default: 30,000; the owner's `limits.outputChars` can only lower
   * it.
   */
  maxOutputChars?: number
  /** Inputs that work, shown to people and run by `toolContract`. */
  examples?: ReadonlyArray<{ readonly input: InferInput<In>; readonly note?: string }>
  /** Other names and argument forms of the tool, by the name of the dialect, such as `coding`. */
  dialects?: Readonly<Record<string, Dialect>>
  /** For catalogues; no rule looks at it. */
  category?: string
  /** What listings call the form that it came in. Default: `function`. */
  kind?: Exclude<ToolKind, 'core'>
  /** `group:<name>` in rules. Default: the part of the name before the first `.`. */
  group?: string
  /** For catalogues; no rule looks at them. */
  tags?: readonly string[]
  /** For catalogues, in any form. */
  version?: string
  /** What one call takes from a `cost` budget. */
  costUnits?: number
  /**
   * What a failure is about, such as a channel or a run: after several in a row only calls about the same are paused.
   */
  circuit?: (input: Infer<In>, run: string) => string
  /**
   * Which workers execute its calls: `worker` for any, `worker:gpu` or `worker:gpu,eu` for those with these labels. Needs a
   * store on PostgreSQL; without one, calls fail with `NO_WORKER`. Default: the process of the run executes them.
   */
  where?: string
  /** Whether it replaces a built-in tool of the same name, whose capabilities it then has, too. */
  override?: boolean
  /**
   * Why its definition is not trusted now, e.g. that a server changed it; meanwhile every call needs an approval that
   * shows it.
   */
  doubt?: string
  /**
   * Whether its results count as content from outside, after which calls with side effects ask. Default: those of calls
   * that use the network or another system (`outside`), and no others (`own`).
   */
  results?: 'own' | 'outside'
  /**
   * Whether it may delete or overwrite something that no capability shows. In a tainted run, a call of it asks even if the
   * user has named everything that it chooses. Default: false.
   */
  mayDestroy?: boolean
  /**
   * The argument without which a call only says what it would do. `explain` then also says what the confirmed call would
   * need.
   */
  confirmedBy?: string
  /**
   * Its arguments that are texts for people, by name. After content from outside, all others need evidence that the user
   * chose their values; of a text, only the addresses in it do. Default: arguments called `body`, `subject`, `text` and the
   * like. `[]`: none, such as for a tool whose `text` is a query.
   */
  texts?: readonly string[]
  /**
   * Its arguments that name whom or what a call acts on, such as a recipient: after content from outside, the user's words
   * are evidence for these and for no others. Default: arguments that are called so, or have such a format. `[]`: none.
   */
  evidence?: readonly string[]
  /**
   * The call that a call of this tool stands for, which the hub makes instead: `execute` is not reached, and rules,
   * approvals, limits and records see only that call. Default: none.
   */
  standsFor?: (input: Infer<In>) => { readonly tool: string; readonly input: unknown }
  /**
   * Does the work and returns the data, or throws a `ToolError`. `ctx` has a handle only for a declared capability: if
   * TypeScript says that `fs` does not exist on `BaseContext`, add `capabilities: ['read:fs']`.
   */
  execute: (
    input: Infer<In>,
    ctx: Context<Caps[number]>,
  ) => [Out] extends [undefined] ? R | Promise<R> : Infer<Out> | Promise<Infer<Out>>
  /** The short form for a model. Default: the data as JSON. */
  toModel?: (output: NoInfer<[Out] extends [undefined] ? R : Infer<Out>>, limit: ModelLimit) => Content
}

/**
 * Defines a tool, freezes its definition and infers its types.
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
  definition: ToolSpec<Name, In, Out, Caps, R>,
): Tool<Name, Infer<In>, [Out] extends [undefined] ? R : Infer<Out>, InferInput<In>> {
  return Object.freeze({ ...definition, capabilities: Object.freeze([...(definition.capabilities ?? [])]) }) as never
}

/**
 * Separates the reason of a doubt from details for people only: the texts of an MCP server that nobody has accepted yet
 * could be written to mislead a model.
 */
export const DOUBT_DETAILS = '\nWhat changed:\n'

/** Returns a reason as the caller of a tool, which can be a model, may read it. */
export function withoutDoubtDetails(reason: string): string {
  const at = reason.indexOf(DOUBT_DETAILS)
  return at === -1 ? reason : reason.slice(0, at)
}
