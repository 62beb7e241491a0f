import type { ToolResult } from '../result.ts'
import type { NoteOrigin } from './memory.ts'

/** What a provider is asked with. */
export interface ProviderUse {
  readonly signal: AbortSignal
  /** Calls a tool of the hub, as the call that needs memory may. */
  call(tool: string, input: unknown): Promise<ToolResult>
}

/** What a provider gives back of a note. */
export interface ProviderNote {
  readonly id: string
  readonly content: string
  /** One of the keys that were asked for; the first of them unless said. */
  readonly key?: string
  readonly tags?: readonly string[]
  readonly createdAt?: number
  readonly score?: number
}

/** Keeps notes somewhere else. Its answers are checked and bounded; they count as content from outside unless it is `trusted`. */
export interface MemoryProvider {
  readonly name?: string
  readonly trusted?: boolean
  /** Best first. */
  recall(
    query: {
      readonly query: string
      readonly keys: readonly string[]
      readonly limit: number
      readonly tags: readonly string[]
    },
    use: ProviderUse,
  ): Promise<readonly ProviderNote[]>
  /** `id` is the same when the same note is written again after a failure: then it is to be kept once. */
  write?(
    note: {
      readonly id: string
      readonly key: string
      readonly content: string
      readonly tags: readonly string[]
      readonly origin: NoteOrigin
    },
    use: ProviderUse,
  ): Promise<{ readonly id: string }>
  update?(
    note: {
      readonly id: string
      readonly key: string
      readonly content?: string
      readonly tags?: readonly string[]
      readonly origin: NoteOrigin
    },
    use: ProviderUse,
  ): Promise<void>
  /** False when it has no such note under this key. */
  forget?(note: { readonly id: string; readonly key: string }, use: ProviderUse): Promise<boolean>
}
