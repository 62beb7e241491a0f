import type { Awaitable } from '../../core/index.ts'
import { defineStore } from '../../core/sql/index.ts'
import { notes } from './notes/notes.ts'
import { NOTE_INDEX } from './notes/notes-index.ts'

/** Notes that agents write for later. */
export interface NoteStore {
  /** Adds a note; false if its id exists. BUDGET_EXCEEDED if its scope holds `maxInScope` notes. */
  add(note: StoredNote, options?: { maxInScope?: number; vector?: Float32Array }): Awaitable<boolean>
  /** Replaces the note with the same id, in the same scope or another; false if there is none. */
  replace(note: StoredNote, options?: { maxInScope?: number; vector?: Float32Array }): Awaitable<boolean>
  /** A note by its id; `undefined` if there is none. */
  find(id: string): Awaitable<StoredNote | undefined>
  /** Whether there was one with this id. */
  remove(id: string): Awaitable<boolean>
  /** Removes all notes of a scope; returns how many. */
  removeScope(scope: string): Awaitable<number>
  /** Notes of these scopes that contain words of the text, best first; docs/memory.md has the formula. */
  search(query: NoteQuery & { readonly text: string; readonly now: number }): Awaitable<readonly FoundNote[]>
  /** Notes of these scopes with a similar vector, nearest first, among the newest ones that have a vector. */
  nearest(query: NoteQuery & { readonly vector: Float32Array }): Awaitable<readonly FoundNote[]>
  /** The last written first. */
  list(filter: {
    /** Only this scope. */
    readonly scope?: string
    /** Only scopes with this prefix, such as `run:`. */
    readonly scopePrefix?: string
    /** Only notes with a smaller `seq`. */
    readonly before?: number
    /** Maximum number of notes. */
    readonly limit: number
  }): Awaitable<readonly KeptNote[]>
}

/** A note in the store. */
export interface StoredNote {
  /** Unique among all notes. */
  readonly id: string
  /** `shared`, `run:…`, `session:…`, `agent:…`. */
  readonly scope: string
  /** What the note says. */
  readonly text: string
  /** Words to filter by; may be empty. */
  readonly tags: readonly string[]
  /** JSON of its origin. */
  readonly origin: string
  /** When it was first written. */
  readonly createdAt: number
  /** When it was last written. */
  readonly updatedAt: number
}

/** A note with its position in the order of writing. */
export interface KeptNote extends StoredNote {
  /** Grows with every write, also of an existing note. */
  readonly seq: number
}

/** Which notes to search. */
export interface NoteQuery {
  /** `all` is for the owner only. */
  readonly scopes: readonly string[] | 'all'
  /** Only notes with one of these tags; all notes if the list is empty. */
  readonly tags: readonly string[]
  /** Maximum number of notes. */
  readonly limit: number
}

/** A note that was found, with its score. */
export interface FoundNote {
  /** The note itself. */
  readonly note: StoredNote
  /** Higher is better. */
  readonly score: number
}

/** Nothing ever wrote to `notes`; `memory_notes` replaces it. An updated note gets a new number: the last written is the newest. */
const TABLES = `
DROP TABLE notes;
INSERT INTO counters (name, value) VALUES ('notes', 0);
CREATE TABLE memory_scopes (
  scope TEXT PRIMARY KEY,
  number BIGINT NOT NULL UNIQUE,
  notes BIGINT NOT NULL
);
CREATE TABLE memory_notes (
  seq BIGINT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL,
  content TEXT NOT NULL,
  tags TEXT NOT NULL,
  origin TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX memory_notes_scope ON memory_notes (scope, seq);
${NOTE_INDEX}`

/** The notes of agents. */
export const memoryStore = defineStore<{ memory: NoteStore }>({
  repositories: { memory: notes },
  migrations: { 12: TABLES },
  durable: { memory: ['add', 'replace', 'remove', 'removeScope'] },
  bounds: { memory: [{ table: 'memory_notes', methods: ['add'], what: 'notes' }] },
})
