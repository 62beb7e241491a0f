import type { AnyTool, Capability } from './define.ts'
import type { AgentTool } from './from-agent-tool.ts'
import type { HandlerTool } from './from-handler-tool.ts'
import type { CallEvent, ToolResult } from './result.ts'
import type { Infer, JsonSchema } from './schema/infer.ts'

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

/** Code that the owner runs at four places of the road; a hook that fails or hangs blocks the call. */
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
  /** May only look. */
  readonly settled?: (call: CallView, result: ToolResult) => void | Promise<void>
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
  /** While it has failed no call passes. So it is for one with hooks, which may guard something; others fail alone by default. */
  readonly required?: boolean
  /** Releases what `setup` opened; called when the hub closes. */
  readonly close?: () => void | Promise<void>
}

/** Gives a plugin its type and freezes it. */
export function definePlugin<const P extends Plugin>(plugin: P): P {
  return Object.freeze(plugin)
}
