import type { ToolResult } from '../../../core/result.ts'
import type { NoteOrigin } from '../types.ts'

/** What a provider is asked with. */
export interface ProviderUse {
  /** Aborts when the call is stopped or `limits.timeoutMs` of memory is over. */
  readonly signal: AbortSignal
  /** Calls a tool of the hub, as the call that needs memory may. */
  call(tool: string, input: unknown): Promise<ToolResult>
}

/** What a provider gives back of a note. */
export interface ProviderNote {
  /** The provider's own id, by which the note is updated and forgotten. */
  readonly id: string
  /** The text of the note; longer ones than the owner allows are cut. */
  readonly content: string
  /** One of the keys that were asked for; the first of them unless said. */
  readonly key?: string
  /** Words to filter by. Default: none. */
  readonly tags?: readonly string[]
  /** Milliseconds since 1970. Default: 0. */
  readonly createdAt?: number
  /** How well it fits, higher is better. Default: 0. */
  readonly score?: number
}

/** Keeps notes somewhere else. Its answers are checked and bounded; they count as content from outside unless it is `trusted`. */
export interface MemoryProvider {
  /** What results and records call it. */
  readonly name?: string
  /** What it returns does not count as content from outside. Default: `false`. */
  readonly trusted?: boolean
  /** Best first. */
  recall(
    query: {
      /** The words to look for, as the agent wrote them. */
      readonly query: string
      /** The scopes that the call may read, each with whose it is: `agent:token:ci`, `shared`. */
      readonly keys: readonly string[]
      /** Most notes to return. */
      readonly limit: number
      /** Only notes that have one of these; empty for all. */
      readonly tags: readonly string[]
    },
    use: ProviderUse,
  ): Promise<readonly ProviderNote[]>
  /** `id` is the same when the same note is written again after a failure: then it is to be kept once. */
  write?(
    note: {
      /** Id that the hub suggests for the note. */
      readonly id: string
      /** The scope with whose it is. */
      readonly key: string
      /** The text to keep. */
      readonly content: string
      /** Words to filter by; may be empty. */
      readonly tags: readonly string[]
      /** Who wrote it, in which call, and whether it may hold content from outside. */
      readonly origin: NoteOrigin
    },
    use: ProviderUse,
  ): Promise<{ readonly id: string }>
  /** Changes a note; what is absent stays. Without this method, updates fail. */
  update?(
    note: {
      /** The provider's own id of the note. */
      readonly id: string
      /** The scope with whose it is. */
      readonly key: string
      /** The new text; absent when it stays. */
      readonly content?: string
      /** The new tags; absent when they stay. */
      readonly tags?: readonly string[]
      /** Who changed it, in which call, and whether it may hold content from outside. */
      readonly origin: NoteOrigin
    },
    use: ProviderUse,
  ): Promise<void>
  /** False when it has no such note under this key. */
  forget?(note: { readonly id: string; readonly key: string }, use: ProviderUse): Promise<boolean>
}
