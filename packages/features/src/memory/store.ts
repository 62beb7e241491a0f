import { type Awaitable, ToolError } from '@tool-hub/core'
import { likeness } from '@tool-hub/core/lib'
import {
  ANY_TIME,
  all,
  defineStore,
  entity,
  get,
  json,
  nextNumber,
  one,
  page,
  pageSize,
  type Repository,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import { CANDIDATE_TABLE, type CandidateStore, candidateRepository, sweepCandidates } from './candidate-store.ts'
import { chooseNotes, hasTag, queryWords, rankNotes, searchedNote, textWords } from './notes/note-ranking.ts'
import {
  ALL_SCOPES,
  addToIndex,
  findWords,
  NOTE_INDEX,
  readVectors,
  removeFromIndex,
  tagWord,
} from './notes/notes-index.ts'

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

const NOTES = entity<StoredNote>('memory_notes', {
  id: 'id',
  scope: 'scope',
  text: 'content',
  tags: json('tags'),
  origin: 'origin',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})

interface NoteRow {
  readonly seq: number
  readonly scope: string
}

type PutOptions = NonNullable<Parameters<NoteStore['add']>[1]>

const LIST = { select: `SELECT seq, ${NOTES.columns} FROM memory_notes`, order: 'seq DESC' }
const FIND = `${LIST.select} WHERE id = ?`
const FIND_BY_SEQ = `${LIST.select} WHERE seq = ?`
const LIST_SCOPE = 'SELECT seq FROM memory_notes WHERE scope = ?'
const INSERT = `INSERT INTO memory_notes (seq, ${NOTES.columns}) VALUES (?, ${NOTES.marks})`

/** A recall compares the vectors of the newest notes of each scope, up to this number. */
export const MAX_VECTORS = 5_000

/** Notes of agents. */
const notes: Repository<NoteStore> = {
  add: (note, options = {}) =>
    transaction(function* () {
      if (yield* get(FIND, note.id)) return false
      yield* put(note, options)
      return true
    }),
  replace: (note, options = {}) =>
    transaction(function* () {
      const known = yield* get<NoteRow>(FIND, note.id)
      if (!known) return false
      yield* remove(known)
      yield* put(note, known.scope === note.scope ? { ...options, maxInScope: undefined } : options)
      return true
    }),
  *find(id) {
    const row = yield* get(FIND, id)
    return row ? NOTES.read(row) : undefined
  },
  remove: (id) =>
    transaction(function* () {
      const known = yield* get<NoteRow>(FIND, id)
      if (known) yield* remove(known)
      return known !== undefined
    }),
  *removeScope(scope) {
    // Most runs have no notes, and must not wait for the write lock when they end.
    if ((yield* all(LIST_SCOPE, scope)).length === 0) return 0
    return yield* transaction(function* () {
      const rows = yield* all<{ seq: number }>(LIST_SCOPE, scope)
      for (const { seq } of rows) yield* remove({ seq, scope })
      return rows.length
    })
  },
  *search({ text, now, ...query }) {
    const words = queryWords(text)
    const { tags } = query
    const limit = pageSize(query.limit)
    const { numbers, size } = yield* numbersOf(query.scopes)
    const tagGroup = tags.length > 0 ? [tags.map(tagWord)] : []
    const lookup = {
      size,
      withAll: (all: readonly string[], most: number) =>
        findWords(numbers, [...all.map((word) => [word]), ...tagGroup], most),
      withWord: (word: string, most: number) => findWords(numbers, [[word], ...tagGroup], most),
    }
    if (words.length > 0) {
      const { seqs, weights } = yield* chooseNotes(lookup, words, limit)
      const found = (yield* read(seqs)).filter((note) => hasTag(note, tags))
      return rankNotes(found, { words, weights, tags, now, limit })
    }
    const found =
      tags.length > 0 ? yield* read(yield* lookup.withAll([], limit)) : yield* listNewest({ ...query, limit })
    const tagged = found.filter((note) => hasTag(note, tags))
    return rankNotes(tagged, { words, weights: new Map(), tags, now, limit })
  },
  *nearest({ scopes, vector, tags, limit }) {
    const scored: { seq: number; score: number }[] = []
    for (const scope of scopes === 'all' ? [undefined] : scopes)
      for (const each of yield* readVectors(scope, MAX_VECTORS))
        scored.push({ seq: each.seq, score: likeness(each.vector, vector) })
    const best = scored
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, tags.length > 0 ? MAX_VECTORS : pageSize(limit))
    const found: FoundNote[] = []
    for (const { seq, score } of best) for (const note of yield* read([seq])) found.push({ note, score })
    return found.filter(({ note }) => hasTag(note, tags)).slice(0, pageSize(limit))
  },
  *list({ scope, scopePrefix, before = ANY_TIME, limit }) {
    const rows = yield* page<NoteRow>(
      LIST,
      [
        ['seq < ?', before],
        ['scope = ?', scope],
        ['scope >= ?', scopePrefix],
        // Sorts after all scopes with this prefix.
        ['scope < ?', scopePrefix && `${scopePrefix}\u{10ffff}`],
      ],
      limit,
    )
    return rows.map((row) => ({ ...NOTES.read(row), seq: row.seq }))
  },
}

/** The error for a scope that has reached its limit of notes. */
export function scopeIsFull(scope: string, held: number): ToolError {
  return new ToolError(
    'BUDGET_EXCEEDED',
    `The scope ${JSON.stringify(scope)} holds ${held} notes, which is the limit.`,
    {
      fix: {
        key: 'memory.limits.notes',
        hint: 'Forget notes that are no longer needed, or ask the owner to raise the limit.',
      },
    },
  )
}

/** Inserts a note; must run in a transaction. */
function* put(note: StoredNote, { maxInScope, vector }: PutOptions): Work<void> {
  const { number, notes: held } = yield* enterScope(note.scope)
  if (maxInScope !== undefined && held > maxInScope) throw scopeIsFull(note.scope, held - 1)
  const seq = yield* nextNumber('notes')
  yield* run(INSERT, seq, ...NOTES.values(note))
  const words = new Set(textWords(searchedNote(note)))
  yield* addToIndex({ seq, scope: note.scope, scopeNumber: number, words, tags: note.tags, vector })
}

const REBUILT_AT_ONCE = 500
const NEXT_NOTES = `SELECT n.seq, s.number, ${NOTES.columnsOf('n')} FROM memory_notes n
 JOIN memory_scopes s ON s.scope = n.scope WHERE n.seq > ? ORDER BY n.seq LIMIT ?`

/** Fills the index of words; the vectors are in a table of their own. */
function* rebuildIndex(): Work<void> {
  for (let last = 0; ; ) {
    const rows = yield* all<{ readonly seq: number; readonly number: number }>(NEXT_NOTES, last, REBUILT_AT_ONCE)
    for (const row of rows) {
      const note = NOTES.read(row, 'n')
      const words = new Set(textWords(searchedNote(note)))
      yield* addToIndex({
        seq: row.seq,
        scope: note.scope,
        scopeNumber: row.number,
        words,
        tags: note.tags,
        vector: undefined,
      })
    }
    if (rows.length < REBUILT_AT_ONCE) return
    last = rows.at(-1)!.seq
  }
}

/** Deletes a note; must run in a transaction. */
function* remove({ seq, scope }: NoteRow): Work<void> {
  yield* run('DELETE FROM memory_notes WHERE seq = ?', seq)
  yield* removeFromIndex(seq)
  yield* run('UPDATE memory_scopes SET notes = notes - 1 WHERE scope = ?', scope)
  yield* run('DELETE FROM memory_scopes WHERE scope = ? AND notes <= 0', scope)
}

function* read(seqs: readonly number[]): Work<StoredNote[]> {
  const found: StoredNote[] = []
  for (const seq of seqs) {
    const row = yield* get(FIND_BY_SEQ, seq)
    if (row) found.push(NOTES.read(row))
  }
  return found
}

function* listNewest({ scopes, limit }: NoteQuery): Work<StoredNote[]> {
  const rows: NoteRow[] = []
  for (const scope of scopes === 'all' ? [undefined] : scopes)
    rows.push(
      ...(yield* page<NoteRow>(LIST, [scope === undefined ? ['seq < ?', ANY_TIME] : ['scope = ?', scope]], limit)),
    )
  return rows
    .sort((a, b) => b.seq - a.seq)
    .slice(0, limit)
    .map((row) => NOTES.read(row))
}

/** A scope that has notes, with its number in the index and its count of notes. */
interface ScopeRow {
  readonly number: number
  readonly notes: number
}

const ENTER_SCOPE = `INSERT INTO memory_scopes (scope, number, notes)
 VALUES (?, (SELECT COALESCE(MAX(s.number), ${ALL_SCOPES}) + 1 FROM memory_scopes s), 1)
 ON CONFLICT (scope) DO UPDATE SET notes = memory_scopes.notes + 1 RETURNING number, notes`

/** Counts one more note of a scope. */
function enterScope(scope: string): Work<ScopeRow> {
  return one(ENTER_SCOPE, scope)
}

/** The numbers of the scopes that have notes, and the total count of their notes. */
function* numbersOf(scopes: readonly string[] | 'all'): Work<{ numbers: readonly number[]; size: number }> {
  if (scopes === 'all') {
    const { size } = yield* one<{ size: number | null }>('SELECT SUM(notes) AS size FROM memory_scopes')
    return { numbers: [ALL_SCOPES], size: size ?? 0 }
  }
  const rows: ScopeRow[] = []
  for (const scope of scopes) {
    const row = yield* get<ScopeRow>('SELECT number, notes FROM memory_scopes WHERE scope = ?', scope)
    if (row) rows.push(row)
  }
  return { numbers: rows.map(({ number }) => number), size: rows.reduce((sum, { notes }) => sum + notes, 0) }
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
`

/** The notes of agents. */
export const memoryStore = defineStore<{ memory: NoteStore; memoryCandidates: CandidateStore }>({
  repositories: { memory: notes, memoryCandidates: candidateRepository },
  migrations: {
    12: { sqlite: TABLES + NOTE_INDEX.sqlite, postgres: TABLES + NOTE_INDEX.postgres },
    25: CANDIDATE_TABLE,
  },
  durable: { memory: ['add', 'replace', 'remove', 'removeScope'], memoryCandidates: ['add', 'review'] },
  bounds: {
    memory: [{ table: 'memory_notes', methods: ['add'], what: 'notes' }],
    memoryCandidates: [{ table: 'memory_candidates', methods: ['add'], what: 'notes for review' }],
  },
  *sweep() {
    yield* sweepCandidates()
  },
  derived: { tables: ['memory_words'], rebuild: rebuildIndex },
})
