import type { ContentBlock } from './result.ts'
import type { AnySchema } from './schema/infer.ts'

/** A tool that a client defines and executes itself: in S3's form, or in that of this package. */
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
