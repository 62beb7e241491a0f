import { foldTag } from '../rules/note-words.ts'
import type { Connection } from './connection.ts'

/**
 * What only SQLite has: full-text search, in FTS5, and vectors. Words are split and folded before they come here, so
 * that both stores find the same; FTS5 keeps them as they are. Each word stands there twice: behind the number of its
 * scope, so that a search reads nothing of others, and behind 0 for the owner, who looks in all scopes.
 */
export const NOTE_INDEX = `
CREATE VIRTUAL TABLE memory_words USING fts5(words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
CREATE TABLE memory_vectors (
  seq BIGINT PRIMARY KEY,
  scope TEXT NOT NULL,
  vector BLOB NOT NULL
);
CREATE INDEX memory_vectors_scope ON memory_vectors (scope, seq);
`

/** The number that stands for all scopes. */
export const ALL_SCOPES = 0
const SCOPE_DIGITS = 7
/** No letter of any word, and none that the tokeniser of FTS5 would split at. */
const TAG_MARK = '§'

/** The index over the notes of a file. */
export interface NotesIndex {
  add(seq: number, scope: number, words: ReadonlySet<string>, tags: readonly string[]): void
  remove(seq: number): void
  /** Of notes in one of the scopes with one of the words of each group; the last written first. */
  find(scopes: readonly number[], groups: readonly (readonly string[])[], most: number): readonly number[]
  addVector(seq: number, scope: string, vector: Float32Array): void
  vectors(scope: string | undefined, most: number): readonly { readonly seq: number; readonly vector: Float32Array }[]
}

/** Opens the index. */
export function createNotesIndex(connection: Connection): NotesIndex {
  const add = connection.statement('INSERT INTO memory_words (rowid, words) VALUES (?, ?)')
  const remove = connection.statement('DELETE FROM memory_words WHERE rowid = ?')
  const find = connection.statement<{ rowid: number }>(
    'SELECT rowid FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid DESC LIMIT ?',
  )
  const addVector = connection.statement('INSERT INTO memory_vectors (seq, scope, vector) VALUES (?, ?, ?)')
  const removeVector = connection.statement('DELETE FROM memory_vectors WHERE seq = ?')
  const vectorsOf = connection.statement<VectorRow>(
    'SELECT seq, vector FROM memory_vectors WHERE scope = ? ORDER BY seq DESC LIMIT ?',
  )
  const vectors = connection.statement<VectorRow>('SELECT seq, vector FROM memory_vectors ORDER BY seq DESC LIMIT ?')
  return {
    add(seq, scope, words, tags) {
      const all = [...words, ...tags.map(tagWord)]
      add.run(seq, [scope, ALL_SCOPES].flatMap((each) => all.map((word) => scopedWord(each, word))).join(' '))
    },
    remove(seq) {
      remove.run(seq)
      removeVector.run(seq)
    },
    find(scopes, groups, most) {
      if (scopes.length === 0) return []
      const match = groups.map((words) => `(${anyOf(scopes, words)})`).join(' AND ')
      return find.all(match, most).map(({ rowid }) => rowid)
    },
    addVector(seq, scope, vector) {
      addVector.run(seq, scope, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength))
    },
    vectors: (scope, most) => (scope === undefined ? vectors.all(most) : vectorsOf.all(scope, most)).map(toVector),
  }
}

interface VectorRow {
  readonly seq: number
  readonly vector: Uint8Array
}

/** A tag among the words; those that look alike here are told apart when the note is read. */
export function tagWord(tag: string): string {
  return TAG_MARK + foldTag(tag).replace(/[^\p{L}\p{N}\p{M}]/gu, TAG_MARK)
}

/** In quotes, so that no word can be taken for syntax. */
function anyOf(scopes: readonly number[], words: readonly string[]): string {
  return scopes.flatMap((scope) => words.map((word) => `"${scopedWord(scope, word)}"`)).join(' OR ')
}

function scopedWord(scope: number, word: string): string {
  return scope.toString(36).padStart(SCOPE_DIGITS, '0') + word
}

/** Copied: what SQLite gives need not begin where a number may. */
function toVector({ seq, vector }: VectorRow): { readonly seq: number; readonly vector: Float32Array } {
  return { seq, vector: new Float32Array(Uint8Array.from(vector).buffer) }
}
