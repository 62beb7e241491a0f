import type { Awaitable } from '../store.ts'

/** What agents wrote down for later. */
export interface MemoryStore {
  /** Keeps a new note; false when there is one of that id. BUDGET_EXCEEDED when its scope holds so many. */
  add(note: StoredNote, options?: { mostInScope?: number; vector?: Float32Array }): Awaitable<boolean>
  /** Another note of the same id, in the same scope or another; false when there is none. */
  replace(note: StoredNote, options?: { mostInScope?: number; vector?: Float32Array }): Awaitable<boolean>
  /** A note by its id; `undefined` if there is none. */
  find(id: string): Awaitable<StoredNote | undefined>
  /** Whether there was one with this id. */
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
    /** Only scopes that begin so, such as `run:`. */
    readonly scopePrefix?: string
    /** Only notes with a smaller `seq`. */
    readonly before?: number
    /** Most notes of the page. */
    readonly limit: number
  }): Awaitable<readonly KeptNote[]>
}

/** A note as it is kept. */
export interface StoredNote {
  /** Unique among all notes. */
  readonly id: string
  /** `shared`, `run:…`, `session:…`, `agent:…`. */
  readonly scope: string
  /** What the note says. */
  readonly text: string
  /** Words to filter by; may be empty. */
  readonly tags: readonly string[]
  /** JSON of where it comes from. */
  readonly origin: string
  /** When it was first written. */
  readonly createdAt: number
  /** When it was last written. */
  readonly updatedAt: number
}

/** The same with its place in the order of writing. */
export interface KeptNote extends StoredNote {
  /** Grows with every write, also of a known note. */
  readonly seq: number
}

/** Where to look. */
export interface NoteQuery {
  /** `all` is for the owner only. */
  readonly scopes: readonly string[] | 'all'
  /** Only notes that have one of them; any when there is none. */
  readonly tags: readonly string[]
  /** Most notes of the answer. */
  readonly limit: number
}

/** A note that fits, and how well. */
export interface FoundNote {
  /** The note itself. */
  readonly note: StoredNote
  /** Higher is better. */
  readonly score: number
}
