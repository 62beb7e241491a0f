import type { ProgramRequest, RunningProgram } from './commands.ts'
import type { Clock } from './context.ts'
import type { ToolError } from './errors.ts'
import type { SkillRequest } from './principal.ts'
import type { ContentBlock } from './result.ts'
import type { AnySchema } from './schema/schema.ts'
import type { AnyTool } from './tool.ts'

/** Where tools come from that may come and go while the hub lives: MCP servers, a folder, skills, a client. */
export interface ToolSource {
  /** Names the source in errors, warnings and records. */
  readonly name: string
  /** While it has failed to start no call passes; others fail alone. */
  readonly required?: boolean
  /** Begins to offer tools. What takes long continues after it has returned; calls wait for `expect`ed names only. */
  start(host: SourceHost): void | Promise<void>
  /** Releases what `start` opened; called when the source is disconnected or the hub closes. */
  close?(): void | Promise<void>
}

/** What a hub does for a source. */
export interface SourceHost {
  /** All that the source brings from now on, instead of what it brought before. A tool that cannot be taken is reported and left out. */
  offer(tools: readonly AnyTool[]): readonly { readonly name: string; readonly why: string }[]
  /**
   * Names that begin so belong to this source and are on their way: a call by one waits for `arriving`, and when the tool
   * is not there after it ends with `problem()`, if there is one.
   */
  expect(
    prefix: string,
    arriving: Promise<unknown> | (() => Promise<unknown>),
    problem?: () => ToolError | undefined,
  ): void
  /** Adds the wish of a skill to what approvers of a run are shown; without a run, to what `explain` says of all. Never allows anything. */
  request(run: string | undefined, request: SkillRequest): void
  /** Puts on record that an answer to a call was not wanted any more. */
  refuseAnswer(run: string, refusal: { callId: string; tool: string; by: string; reason: string }): Promise<void>
  /** Starts a program that the owner named. */
  startProgram(request: ProgramRequest): Promise<RunningProgram>
  /** A `fetch` as browsers have it, for a service that the owner named; every hop is judged by the network guard. */
  webFetch(options: WebFetchOptions): WebFetch
  /** The value of a secret of the owner's, which from then on no record and no result holds; undefined when there is none. */
  secret(name: string): string | undefined
  /** Values that no record and no result may hold. */
  hide(values: readonly string[]): void
  /** A text without the values that nobody may see. */
  redact(text: string): string
  /** Tells the person who runs the hub something that no call is there to tell. */
  warn(message: string): void
  /** Folder of what outlives runs, absolute. */
  readonly data: string
  /** The hub's clock; use it instead of timers, so that tests control the time. */
  readonly clock: Clock
}

/** What a service may be asked. */
export interface WebFetchOptions {
  /** The very origins that the owner named, `https://mcp.example.org`; loopback and private ones too, where they were spelt out. */
  readonly origins: readonly string[]
  /** Any further public host over https, e.g. an authorization server that the service names. Default: false. */
  readonly publicHosts?: boolean
  /** Time until the headers of an answer are there. Default: 30 s. */
  readonly headersTimeoutMs?: number
}

/** The standard `fetch`, as far as clients of services use it: text bodies, streamed answers. */
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
