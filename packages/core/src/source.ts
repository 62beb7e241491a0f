import type { ContentBlock } from './call.ts'
import type { ProgramRequest, RunningProgram } from './commands.ts'
import type { Clock } from './context.ts'
import type { ToolError } from './errors.ts'
import type { SkillRequest } from './principal.ts'
import type { AnySchema } from './schema/schema.ts'
import type { Store } from './store.ts'
import type { AnyTool } from './tool.ts'

/** A source of tools that may come and go while the hub is open: MCP servers, a folder, skills, a client. */
export interface ToolSource {
  /** Names the source in errors, warnings and records. */
  readonly name: string
  /** Whether all calls fail while it has failed to start. Default: false, only calls of its own tools fail. */
  readonly required?: boolean
  /** `false` for a source that never offers tools, so that nobody waits for them. Default: true. */
  readonly offersTools?: boolean
  /** Starts to offer tools. Slow work continues after it has returned; calls wait for `expect`ed names only. */
  start(host: SourceHost): void | Promise<void>
  /** Releases what `start` opened; called when the source is disconnected or the hub closes. */
  close?(): void | Promise<void>
}

/** What a hub provides for a source. */
export interface SourceHost {
  /** Replaces all tools of the source. Returns the tools that were refused, with the reason. */
  offer(tools: readonly AnyTool[]): readonly { readonly name: string; readonly why: string }[]
  /**
   * Declares that names with this prefix belong to this source and are loading: a call by one waits for `arriving`, and
   * if the tool does not exist after that, the call ends with `problem()`, if there is one.
   */
  expect(
    prefix: string,
    arriving: Promise<unknown> | (() => Promise<unknown>),
    problem?: () => ToolError | undefined,
  ): void
  /** Shows the request of a skill to approvers of a run; without a run, in `explain` for all. Never allows anything. */
  request(run: string | undefined, request: SkillRequest): void
  /** Records that an answer to a call came too late. */
  refuseAnswer(run: string, refusal: { callId: string; tool: string; by: string; reason: string }): Promise<void>
  /** Starts a program that the owner named. */
  startProgram(request: ProgramRequest): Promise<RunningProgram>
  /** A `fetch` as browsers have it, for a service that the owner named; every hop is judged by the network guard. */
  webFetch(options: WebFetchOptions): WebFetch
  /**
   * Returns the value of a secret of the owner, which from then on is removed from all records and results, or
   * `undefined`.
   */
  secret(name: string): string | undefined
  /** Removes these values from all records and results. */
  hide(values: readonly string[]): void
  /** Returns the text without secrets. */
  redact(text: string): string
  /** Warns the person who runs the hub about something outside a call. */
  warn(message: string): void
  /** Folder of what outlives runs, absolute. */
  readonly data: string
  /** Where to keep what outlives the process, where all processes of the hub see it. */
  readonly store: SourceStore
  /** The hub's clock; use it instead of timers, so that tests control the time. */
  readonly clock: Clock
}

/** The parts of a store that sources use. */
export interface SourceStore extends Pick<Store, 'documents' | 'slots'> {
  /** Folder of the key that encrypts documents. Absent if only TOOL_HUB_KEY does, because a file reaches one machine. */
  readonly keyFolder?: string
  /** The documents of the data folder, if the hub has another store: what was kept there before is taken over. */
  readonly earlier?: Pick<Store['documents'], 'read'>
}

/** Where requests to a service may go. */
export interface WebFetchOptions {
  /** The exact origins that the owner named, such as `https://mcp.example.org`; also loopback and private ones. */
  readonly origins: readonly string[]
  /** Any further public host over https, e.g. an authorization server that the service names. Default: false. */
  readonly publicHosts?: boolean
  /** Time until the headers of a response arrive. Default: 30 s. */
  readonly headersTimeoutMs?: number
}

/** The standard `fetch`, as far as clients of services use it: text bodies, streamed responses. */
export type WebFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** A tool that a client defines and executes itself: an AgentTool, or a tool in the form of this package. */
export type ClientToolDefinition =
  | {
      /** May be left out: `function` says it. */
      readonly type?: 'function'
      /** The definition, as Chat Completions of OpenAI takes it. */
      readonly function: {
        /** A tool name that nobody else has: letters, digits, `_` and `-` in parts joined by `/` or `.`. */
        readonly name: string
        /** When to use it, for the model. */
        readonly description?: string
        /** JSON Schema of an object. Default: no arguments. */
        readonly parameters?: object
      }
      /** Schema of `data` of an answer. Default: anything. */
      readonly output?: AnySchema
      /** How long a call waits for its answer. Default: as the connection says. */
      readonly timeoutMs?: number
    }
  | {
      /** A tool name that nobody else has: letters, digits, `_` and `-` in parts joined by `/` or `.`. */
      readonly name: string
      /** A short name for people. */
      readonly title?: string
      /** When to use it, for the model. */
      readonly description?: string
      /** Schema of the arguments. Default: no arguments. */
      readonly input?: AnySchema
      /** Schema of `data` of an answer. Default: anything. */
      readonly output?: AnySchema
      /** How long a call waits for its answer. Default: as the connection says. */
      readonly timeoutMs?: number
    }

/** A call that waits for its client. */
export interface ClientCall {
  /** Answer with this id: `connection.answer(callId, …)`. */
  readonly callId: string
  /** Id of the run that the call belongs to. */
  readonly run: string
  /** Canonical name of the tool. */
  readonly tool: string
  /** The arguments, validated. */
  readonly input: unknown
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** What a client says to a call, exactly once: data, or content for the model, or that it failed. */
export type ClientAnswer =
  | { readonly data: unknown; readonly content?: undefined; readonly error?: undefined }
  | {
      /** What the model gets. */
      readonly content: readonly (ContentBlock | { readonly type: 'image'; data: string; mimeType: string })[] | string
      /** For the program; no model sees it. */
      readonly details?: unknown
      /** Not with `content`. */
      readonly data?: undefined
      /** Not with `content`. */
      readonly error?: undefined
    }
  | { readonly error: string | { readonly message: string }; readonly data?: undefined; readonly content?: undefined }

/** A tool of a client that was not taken, and why. */
export interface RefusedClientTool {
  /** The name as the definition says it. */
  readonly name: string
  /** What is wrong with the definition, for its author. */
  readonly why: string
}
