import type { Awaitable } from '../store.ts'

/** What agents wrote down for later. */
export interface MemoryStore {
  /** Keeps a new note; false when there is one of that id. BUDGET_EXCEEDED when its scope holds so many. */
  add(note: StoredNote, options?: { mostInScope?: number; vector?: Float32Array }): Awaitable<boolean>
  /** Another note of the same id, in the same scope or another; false when there is none. */
  replace(note: StoredNote, options?: { mostInScope?: number; vector?: Float32Array }): Awaitable<boolean>
  find(id: string): Awaitable<StoredNote | undefined>
  remove(id: string): Awaitable<boolean>
  /** All of a scope; tells how many. */
  removeScope(scope: string): Awaitable<number>
  /** Notes of these scopes that hold words of the text, best first; docs/memory.md has the formula. */
  search(query: NoteQuery & { readonly text: string; readonly now: number }): Awaitable<readonly FoundNote[]>
  /** Notes of these scopes whose vector points the same way, nearest first, among the newest ones that have a vector. */
  nearest(query: NoteQuery & { readonly vector: Float32Array }): Awaitable<readonly FoundNote[]>
  /** The last written first. */
  list(filter: {
    /** One scope, or all that begin so. */
    readonly scope?: string
    readonly scopePrefix?: string
    readonly before?: number
    readonly limit: number
  }): Awaitable<readonly KeptNote[]>
}

/** A note as it is kept. */
export interface StoredNote {
  readonly id: string
  /** `shared`, `run:…`, `session:…`, `agent:…`. */
  readonly scope: string
  readonly text: string
  readonly tags: readonly string[]
  /** JSON of where it comes from. */
  readonly origin: string
  readonly createdAt: number
  readonly updatedAt: number
}

/** The same with its place in the order of writing. */
export interface KeptNote extends StoredNote {
  readonly seq: number
}

/** Where to look. */
export interface NoteQuery {
  /** `all` is for the owner only. */
  readonly scopes: readonly string[] | 'all'
  /** Only notes that have one of them; any when there is none. */
  readonly tags: readonly string[]
  readonly limit: number
}

/** A note that fits, and how well. */
export interface FoundNote {
  readonly note: StoredNote
  readonly score: number
}
