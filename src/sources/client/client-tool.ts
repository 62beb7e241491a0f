import type { ContentBlock } from '../../result.ts'
import type { AnySchema } from '../../schema/infer.ts'

/** A tool that a client defines and executes itself: in S3's form, or in that of this package. */
export type ClientToolDefinition =
  | {
      readonly type?: 'function'
      readonly function: {
        readonly name: string
        readonly description?: string
        /** JSON Schema of an object; no arguments unless said. */
        readonly parameters?: object
      }
      readonly output?: AnySchema
      readonly timeoutMs?: number
    }
  | {
      readonly name: string
      readonly title?: string
      readonly description?: string
      readonly input?: AnySchema
      /** Schema of `data` of an answer; anything unless said. */
      readonly output?: AnySchema
      /** How long a call waits for its answer; as the connection says unless said. */
      readonly timeoutMs?: number
    }

/** A call that waits for its client. */
export interface ClientCall {
  readonly callId: string
  readonly run: string
  readonly tool: string
  readonly input: unknown
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** What a client says to a call, exactly once: data, or content for the model, or that it failed. */
export type ClientAnswer =
  | { readonly data: unknown; readonly content?: undefined; readonly error?: undefined }
  | {
      readonly content: readonly (ContentBlock | { readonly type: 'image'; data: string; mimeType: string })[] | string
      /** For the program; no model sees it. */
      readonly details?: unknown
      readonly data?: undefined
      readonly error?: undefined
    }
  | { readonly error: string | { readonly message: string }; readonly data?: undefined; readonly content?: undefined }

/** A tool of a client that was not taken, and why. */
export interface RefusedClientTool {
  readonly name: string
  readonly why: string
}
