import type { Artifact, Content, Evidence, ToolResult } from './call.ts'
import type { Capability } from './capability.ts'
import type { Commands } from './commands.ts'
import type { FeatureHandles, FeatureName } from './feature-registry.ts'
import type { CAPABILITY_OF_FEATURE } from './features.generated.ts'
import type { GuardedFetch, ReadFiles, WriteFiles } from './handles.ts'
import type { JsonSchema } from './schema/schema.ts'
import type { AnyTool, ToolInput, ToolOutput } from './tool.ts'

/** Values that tools of one run share: bounded, in memory, discarded with the run. */
export interface RunCache {
  /** Returns a copy of the value, or `undefined` if it is absent, expired or was evicted. */
  get(key: string): { readonly value: unknown; readonly expiresAt: number | undefined } | undefined
  /**
   * Stores a JSON copy of the value until the run ends or `ttlMs` has passed; throws if the value is too large or not
   * JSON.
   */
  set(key: string, value: unknown, options?: { readonly ttlMs?: number }): { readonly bytes: number }
}

/** A question to the person behind the agent. Never for secrets. */
export interface Question {
  /** The question as the person reads it. */
  readonly question: string
  /** What the person needs to know to answer; shown with the question. */
  readonly context?: string
  /** Answers to choose from; the person may give another one. Default: none. */
  readonly options?: readonly string[]
  /** Taken when nobody answers in time. */
  readonly defaultAnswer?: string
  /**
   * How long to wait for the answer; then the default answer is taken, or the call fails with `APPROVAL_TIMEOUT`.
   * Default: as long as approvals wait (`approvals.timeout`), at most one hour.
   */
  readonly timeoutMs?: number
  /** Asks for several values in one form: a flat object of texts, numbers, yes or no, and choices. */
  readonly form?: JsonSchema
}

/** The answer of the person, or the default. */
export interface Answer {
  /** Empty for a form. */
  readonly answer: string
  /** What was filled in, for a form; checked against it. */
  readonly values?: Readonly<Record<string, unknown>>
  /** Nobody answered in time, and `defaultAnswer` was taken. */
  readonly isDefault: boolean
}

/**
 * What every tool gets. Handles such as `ctx.fs`, `ctx.fetch` and `ctx.exec` are there when their capability is
 * declared: `capabilities: ['read:fs']` in the definition adds `ctx.fs`.
 */
export interface BaseContext {
  /** Id of this call, as results, events and records name it. */
  readonly callId: string
  /** Id of the run whose records, budget and workspace the call belongs to. */
  readonly run: string
  /** Aborts when the caller stops, the time is over or the budget is spent. Pass it on. */
  readonly signal: AbortSignal
  /** Values that the tools of one run share; use it to avoid repeated work, never as storage. */
  readonly cache: RunCache
  /** The longest text the owner wants a model to see, in characters. */
  readonly maxOutputChars: number
  /** Bounds that the deciding rule set for this call; a tool that reads or lists keeps to them. */
  readonly constraints: { readonly maxBytes?: number; readonly maxFileBytes?: number; readonly maxResults?: number }
  /** Milliseconds since 1970, of the hub's clock: tests can control it, unlike `Date.now()`. */
  now(): number
  /** Sends a piece of progress to the caller as a `call-progressed` event; it is not part of the result. */
  progress(update: Content): void
  /** Adds something that can be checked afterwards, such as a file or a URL, to `result.evidence`. */
  evidence(evidence: Evidence): void
  /** Adds a notice for the caller to `meta.notices`. */
  notice(text: string): void
  /** Like `notice`, and marks the result as truncated: `meta.truncated`. */
  truncated(notice: string): void
  /** Stores large content outside the result. Returns its reference. */
  artifact(
    content: string | Uint8Array,
    options?: { readonly name?: string; readonly mediaType?: string },
  ): Promise<Artifact>
  /**
   * Reports that the call now waits for somebody else, such as the client that executes it, with the event
   * `call-pending`.
   */
  pending(message: string): void
  /** Asks the person behind the agent. Fails immediately if nobody can be asked. */
  ask(question: Question): Promise<Answer>
  /** Calls another tool by name through the same pipeline, without types. */
  call(tool: string, input: unknown): Promise<ToolResult>
  // Last: TypeScript explains only why the last overload does not match, and a call by name always does.
  /** Calls another tool through the same pipeline, under this call's budget and signal. */
  call<T extends AnyTool>(tool: T, input: ToolInput<T>): Promise<ToolResult<ToolOutput<T>>>
}

/** The context of a tool with the capabilities `C`: `BaseContext` and one handle for each declared capability. */
export type Context<C extends Capability = never> = BaseContext &
  ('read:fs' extends C
    ? {
        /** Reads files below the roots; `write:fs` adds the methods that change them. */
        readonly fs: ReadFiles
      }
    : unknown) &
  ('write:fs' extends C
    ? {
        /** Changes files below the roots that can be written; `read:fs` adds the methods that read them. */
        readonly fs: WriteFiles
      }
    : unknown) &
  ('network' extends C
    ? {
        /** Requests to hosts that the sandbox and the policy allow. */
        readonly fetch: GuardedFetch
      }
    : unknown) &
  ('exec' extends C
    ? {
        /** Runs commands in the sandbox. */
        readonly exec: Commands
      }
    : unknown) &
  ContextHandles<C>

/** The handles of the features whose capability is in `C`. */
type ContextHandles<C extends Capability> = {
  readonly [Name in keyof FeatureHandles & FeatureName as (typeof CAPABILITY_OF_FEATURE)[Name] extends C
    ? Name
    : never]: FeatureHandles[Name]
}

/** The context of a preview: it changes nothing, and its reads do not count as the run's. */
export interface ReadContext {
  /** Reads the targets of the call, as far as no rule forbids it; other files do not exist for it. */
  readonly fs: ReadFiles
  /** Aborts when nobody waits for the preview any more. */
  readonly signal: AbortSignal
}

/** What a call would change in one text file. */
export interface TextChange {
  /** Path of the file, as the tool's arguments name it. */
  readonly path: string
  /** Where the file would be moved; absent if it stays. */
  readonly movedTo?: string
  /** `undefined` for a file that does not exist yet. */
  readonly before: string | undefined
  /** `undefined` for a file that would be removed. */
  readonly after: string | undefined
}

/** Time as the hub sees it; tests replace it with `fakeClock()`. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /**
   * Runs `callback` after `ms`. Returns a function that cancels it. A waiting timer keeps the process alive, so that a
   * call always gets its end, unless it is `background` work that nobody waits for.
   */
  after(ms: number, callback: () => void, options?: { readonly background?: boolean }): () => void
}

const MAX_TIMER_MS = 2 ** 31 - 1

/** The machine's own clock. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, callback, options) {
    const timer = setTimeout(callback, Math.min(ms, MAX_TIMER_MS))
    if (options?.background) timer.unref()
    return () => clearTimeout(timer)
  },
}
