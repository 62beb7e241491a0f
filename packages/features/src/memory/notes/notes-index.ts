import { all, dialect, run, type Work } from '@tool-hub/core/sql'
import { foldTag } from './note-ranking.ts'

/** The vectors of notes. */
const VECTORS_TABLE = `
CREATE TABLE memory_vectors (
  seq BIGINT PRIMARY KEY,
  scope TEXT NOT NULL,
  vector BLOB NOT NULL
);
CREATE INDEX memory_vectors_scope ON memory_vectors (scope, seq);
`

/**
 * The words of notes: FTS5 in SQLite, an index of arrays in PostgreSQL. Words are split and folded before they come here,
 * so that every database finds the same; FTS5 keeps them as they are. Each word is kept twice: prefixed with the number of
 * its scope, so that a search reads nothing of other scopes, and with 0 for the owner, who searches all scopes.
 */
export const NOTE_INDEX = {
  sqlite: `
CREATE VIRTUAL TABLE memory_words USING fts5(words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
${VECTORS_TABLE}`,
  postgres: `
CREATE TABLE memory_words (
  seq BIGINT PRIMARY KEY,
  words TEXT[] NOT NULL
);
CREATE INDEX memory_words_words ON memory_words USING gin (words);
${VECTORS_TABLE}`,
}

/** The number that stands for all scopes. */
export const ALL_SCOPES = 0
const SCOPE_DIGITS = 7
/** Occurs in no word, and the tokenizer of FTS5 does not split at it. */
const TAG_MARK = '§'

/** Statements that differ; no word contains a space. */
const SQLITE = {
  insert: 'INSERT INTO memory_words (rowid, words) VALUES (?, ?)',
  remove: 'DELETE FROM memory_words WHERE rowid = ?',
  find: 'SELECT rowid AS seq FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid DESC LIMIT ?',
}
const POSTGRES = {
  insert: `INSERT INTO memory_words (seq, words) VALUES (?, string_to_array(?, ' '))`,
  remove: 'DELETE FROM memory_words WHERE seq = ?',
  hasAny: `words && string_to_array(?, ' ')`,
}
const VECTORS = 'SELECT seq, vector FROM memory_vectors ORDER BY seq DESC LIMIT ?'
const VECTORS_OF_SCOPE = 'SELECT seq, vector FROM memory_vectors WHERE scope = ? ORDER BY seq DESC LIMIT ?'

/** A note as the index needs it. */
export interface IndexedNote {
  readonly seq: number
  readonly scope: string
  readonly scopeNumber: number
  readonly words: ReadonlySet<string>
  readonly tags: readonly string[]
  readonly vector: Float32Array | undefined
}

/** The vector of a note. */
export interface NoteVector {
  readonly seq: number
  readonly vector: Float32Array
}

interface VectorRow {
  readonly seq: number
  readonly vector: Uint8Array
}

/** Notes in one of the scopes with one of the words of each group; the last written first. */
export function* findWords(
  scopes: readonly number[],
  groups: readonly (readonly string[])[],
  most: number,
): Work<readonly number[]> {
  if (scopes.length === 0) return []
  const scoped = groups.map((words) => scopes.flatMap((scope) => words.map((word) => scopedWord(scope, word))))
  const rows = (yield* isPostgres()) ? yield* findInArrays(scoped, most) : yield* findInFts(scoped, most)
  return rows.map(({ seq }) => seq)
}

/** Adds the words and tags of a note, and its vector if it has one. */
export function* addToIndex(note: IndexedNote): Work<void> {
  const { seq, scope, scopeNumber, words, tags, vector } = note
  const terms = [...words, ...tags.map(tagWord)]
  const scoped = [scopeNumber, ALL_SCOPES].flatMap((number) => terms.map((word) => scopedWord(number, word)))
  yield* run((yield* isPostgres()) ? POSTGRES.insert : SQLITE.insert, seq, scoped.join(' '))
  if (vector)
    yield* run(
      'INSERT INTO memory_vectors (seq, scope, vector) VALUES (?, ?, ?)',
      ...[seq, scope, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)],
    )
}

/** Removes a note. */
export function* removeFromIndex(seq: number): Work<void> {
  yield* run((yield* isPostgres()) ? POSTGRES.remove : SQLITE.remove, seq)
  yield* run('DELETE FROM memory_vectors WHERE seq = ?', seq)
}

/** The vectors of the notes written last, in one scope or in all. */
export function* readVectors(scope: string | undefined, most: number): Work<readonly NoteVector[]> {
  const rows = yield* scope === undefined
    ? all<VectorRow>(VECTORS, most)
    : all<VectorRow>(VECTORS_OF_SCOPE, scope, most)
  return rows.map(toVector)
}

/** A tag as a word of the index; several tags may share a word, so `hasTag` checks the notes that are found. */
export function tagWord(tag: string): string {
  return TAG_MARK + foldTag(tag).replace(/[^\p{L}\p{N}\p{M}]/gu, TAG_MARK)
}

function* isPostgres(): Work<boolean> {
  return (yield* dialect()) === 'postgres'
}

interface FoundRow {
  readonly seq: number
}

/** In quotes, so that no word is read as syntax. */
function findInFts(groups: readonly (readonly string[])[], most: number): Work<FoundRow[]> {
  const match = groups.map((words) => `(${words.map((word) => `"${word}"`).join(' OR ')})`).join(' AND ')
  return all(SQLITE.find, match, most)
}

function findInArrays(groups: readonly (readonly string[])[], most: number): Work<FoundRow[]> {
  const where = groups.map(() => POSTGRES.hasAny).join(' AND ')
  const find = `SELECT seq FROM memory_words WHERE ${where} ORDER BY seq DESC LIMIT ?`
  return all(find, ...groups.map((words) => words.join(' ')), most)
}

function scopedWord(scope: number, word: string): string {
  return scope.toString(36).padStart(SCOPE_DIGITS, '0') + word
}

/** Copies the bytes, because those that SQLite returns may not be aligned. */
function toVector({ seq, vector }: VectorRow): NoteVector {
  return { seq, vector: new Float32Array(Uint8Array.from(vector).buffer) }
}
