import type { ToolResult } from '@tool-hub/core'
import type { NoteOrigin } from '../types.ts'

/** What a provider can use while it handles a request. */
export interface ProviderUse {
  /** Aborts when the call is cancelled, or after `limits.timeoutMs` of memory. */
  readonly signal: AbortSignal
  /** Calls a tool of the hub with the permissions of the call that uses memory. */
  call(tool: string, input: unknown): Promise<ToolResult>
}

/** A note as a provider returns it. */
export interface ProviderNote {
  /** The provider's own id, by which the note is updated and forgotten. */
  readonly id: string
  /** The text of the note; cut at the owner's limit. */
  readonly content: string
  /** One of the keys of the query. Default: the first one. */
  readonly key?: string
  /** Words to filter by. Default: none. */
  readonly tags?: readonly string[]
  /** Milliseconds since 1970. Default: 0. */
  readonly createdAt?: number
  /** Relevance; higher is better. Default: 0. */
  readonly score?: number
}

/** Stores notes outside the hub. Its results are validated and limited; they count as untrusted content unless it is `trusted`. */
export interface MemoryProvider {
  /** Its name in results and records. Default: `provider`. */
  readonly name?: string
  /** Its notes do not count as untrusted content. Default: `false`. */
  readonly trusted?: boolean
  /** Best first. */
  recall(
    query: {
      /** The words to search for, as the agent wrote them. */
      readonly query: string
      /** The scopes that the call may read, each with its run, session or agent: `agent:token:ci`, `shared`. */
      readonly keys: readonly string[]
      /** Maximum number of notes to return. */
      readonly limit: number
      /** Only notes with one of these tags; all notes if the list is empty. */
      readonly tags: readonly string[]
    },
    use: ProviderUse,
  ): Promise<readonly ProviderNote[]>
  /** Stores a note, once for each `id`: a retry after a failure has the same `id`. */
  write?(
    note: {
      /** Id that the hub suggests for the note. */
      readonly id: string
      /** The scope and its run, session or agent. */
      readonly key: string
      /** The text to store. */
      readonly content: string
      /** Words to filter by; may be empty. */
      readonly tags: readonly string[]
      /** Who wrote it, in which call, and whether it may contain untrusted content. */
      readonly origin: NoteOrigin
    },
    use: ProviderUse,
  ): Promise<{ readonly id: string }>
  /** Changes a note; absent properties stay as they are. Without this method, updates fail. */
  update?(
    note: {
      /** The provider's own id of the note. */
      readonly id: string
      /** The scope and its run, session or agent. */
      readonly key: string
      /** The new text; absent if it is unchanged. */
      readonly content?: string
      /** The new tags; absent if they are unchanged. */
      readonly tags?: readonly string[]
      /** Who changed it, in which call, and whether it may contain untrusted content. */
      readonly origin: NoteOrigin
    },
    use: ProviderUse,
  ): Promise<void>
  /** Deletes a note; returns `false` if there is none with this key. */
  forget?(note: { readonly id: string; readonly key: string }, use: ProviderUse): Promise<boolean>
}
