import { type Awaitable, ToolError } from '@tool-hub/core'
import { likeness } from '@tool-hub/core/lib'
import {
  ANY_TIME,
  all,
  type Condition,
  column,
  defineStore,
  defineTable,
  nextNumber,
  one,
  pageSize,
  type Repository,
  type Row,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'
import { CANDIDATES, type CandidateStore, candidateRepository, sweepCandidates } from './candidate-store.ts'
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

/** A note with its position in the order of writing. */
export type KeptNote = Row<typeof MEMORY_NOTES>

/** A note in the store. */
export type StoredNote = Omit<KeptNote, 'seq'>

/** The table of notes. An updated note gets a new number: the last written is the newest. */
const MEMORY_NOTES = defineTable(
  'memory_notes',
  12,
  {
    /** Grows with every write, also of an existing note. */
    seq: column.bigint({ key: true }),
    /** Unique among all notes. */
    id: column.text({ unique: true }),
    /** `shared`, `run:…`, `session:…`, `agent:…`. */
    scope: column.text(),
    /** What the note says. */
    text: column.text({ name: 'content' }),
    /** Words to filter by; may be empty. */
    tags: column.json<readonly string[]>(),
    /** JSON of its origin. */
    origin: column.text(),
    /** When it was first written. */
    createdAt: column.bigint(),
    /** When it was last written. */
    updatedAt: column.bigint(),
  },
  { indexes: { scope: ['scope', 'seq'] } },
)

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

const NOTES = MEMORY_NOTES.without('seq')

type PutOptions = NonNullable<Parameters<NoteStore['add']>[1]>

const LIST_SCOPE = 'SELECT seq FROM memory_notes WHERE scope = ?'

/** A recall compares the vectors of the newest notes of each scope, up to this number. */
export const MAX_VECTORS = 5_000

/** Notes of agents. */
const notes: Repository<NoteStore> = {
  add: (note, options = {}) =>
    transaction(function* () {
      if (yield* MEMORY_NOTES.find('WHERE id = ?', note.id)) return false
      yield* put(note, options)
      return true
    }),
  replace: (note, options = {}) =>
    transaction(function* () {
      const known = yield* MEMORY_NOTES.find('WHERE id = ?', note.id)
      if (!known) return false
      yield* remove(known)
      yield* put(note, known.scope === note.scope ? { ...options, maxInScope: undefined } : options)
      return true
    }),
  find: (id) => NOTES.find('WHERE id = ?', id),
  remove: (id) =>
    transaction(function* () {
      const known = yield* MEMORY_NOTES.find('WHERE id = ?', id)
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
    const conditions: Condition[] = [
      ['seq < ?', before],
      ['scope = ?', scope],
      ['scope >= ?', scopePrefix],
      // Sorts after all scopes with this prefix.
      ['scope < ?', scopePrefix && `${scopePrefix}\u{10ffff}`],
    ]
    return yield* MEMORY_NOTES.page('seq DESC', conditions, limit)
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
  yield* run(MEMORY_NOTES.insert, ...MEMORY_NOTES.values({ ...note, seq }))
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
function* remove({ seq, scope }: Pick<KeptNote, 'seq' | 'scope'>): Work<void> {
  yield* run('DELETE FROM memory_notes WHERE seq = ?', seq)
  yield* removeFromIndex(seq)
  yield* run('UPDATE memory_scopes SET notes = notes - 1 WHERE scope = ?', scope)
  yield* run('DELETE FROM memory_scopes WHERE scope = ? AND notes <= 0', scope)
}

function* read(seqs: readonly number[]): Work<StoredNote[]> {
  const found: StoredNote[] = []
  for (const seq of seqs) {
    const note = yield* NOTES.find('WHERE seq = ?', seq)
    if (note) found.push(note)
  }
  return found
}

function* listNewest({ scopes, limit }: NoteQuery): Work<StoredNote[]> {
  const found: KeptNote[] = []
  for (const scope of scopes === 'all' ? [undefined] : scopes) {
    const condition: Condition = scope === undefined ? ['seq < ?', ANY_TIME] : ['scope = ?', scope]
    found.push(...(yield* MEMORY_NOTES.page('seq DESC', [condition], limit)))
  }
  return found
    .sort((a, b) => b.seq - a.seq)
    .slice(0, limit)
    .map(({ seq: _, ...note }) => note)
}

/** The scopes that have notes, with their numbers in the index and their counts of notes. */
const MEMORY_SCOPES = defineTable('memory_scopes', 12, {
  scope: column.text({ key: true }),
  number: column.bigint({ unique: true }),
  notes: column.bigint(),
})

type ScopeRow = Row<typeof MEMORY_SCOPES>

const ENTER_SCOPE = `INSERT INTO memory_scopes (scope, number, notes)
 VALUES (?, (SELECT COALESCE(MAX(s.number), ${ALL_SCOPES}) + 1 FROM memory_scopes s), 1)
 ON CONFLICT (scope) DO UPDATE SET notes = memory_scopes.notes + 1 RETURNING scope, number, notes`

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
    const row = yield* MEMORY_SCOPES.find('WHERE scope = ?', scope)
    if (row) rows.push(row)
  }
  return { numbers: rows.map(({ number }) => number), size: rows.reduce((sum, { notes }) => sum + notes, 0) }
}

/** Nothing ever wrote to `notes`; `memory_notes` replaces it. */
const FIRST_NOTE = `
DROP TABLE notes;
INSERT INTO counters (name, value) VALUES ('notes', 0);
`

/** The notes of agents. */
export const memoryStore = defineStore<{ memory: NoteStore; memoryCandidates: CandidateStore }>({
  repositories: { memory: notes, memoryCandidates: candidateRepository },
  tables: [
    { migrations: { 12: FIRST_NOTE } },
    ...[MEMORY_SCOPES, MEMORY_NOTES],
    { migrations: { 12: NOTE_INDEX } },
    CANDIDATES,
  ],
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
