import type { FoundNote, KeptNote, MemoryStore, NoteQuery, StoredNote } from '../../store-parts/memory.ts'
import { likeness, MOST_VECTORS } from '../rules/note-vectors.ts'
import { queryWords, textWords } from '../rules/note-words.ts'
import { pageSize } from '../rules/page-size.ts'
import { pickNotes } from '../rules/pick-notes.ts'
import { hasTag, rankNotes, searchedNote } from '../rules/rank-notes.ts'
import { scopeIsFull } from '../rules/scope-is-full.ts'
import type { Connection } from './connection.ts'
import { ANY_TIME, filteredQuery } from './filtered-query.ts'
import { createNotesIndex, tagWord } from './notes-index.ts'
import { createNotesScopes } from './notes-scopes.ts'

interface NoteRow {
  readonly seq: number
  readonly id: string
  readonly scope: string
  readonly content: string
  readonly tags: string
  readonly origin: string
  readonly created_at: number
  readonly updated_at: number
}

type PutOptions = NonNullable<Parameters<MemoryStore['add']>[1]>

const SELECT = 'SELECT seq, id, scope, content, tags, origin, created_at, updated_at FROM memory_notes'

/** Notes of agents in the file. */
export function createNotes(connection: Connection): MemoryStore {
  const index = createNotesIndex(connection)
  const scopes = createNotesScopes(connection)
  const next = connection.statement<{ value: number }>(
    `UPDATE counters SET value = value + 1 WHERE name = 'notes' RETURNING value`,
  )
  const insert = connection.statement(
    `INSERT INTO memory_notes (seq, id, scope, content, tags, origin, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const find = connection.statement<NoteRow>(`${SELECT} WHERE id = ?`)
  const bySeq = connection.statement<NoteRow>(`${SELECT} WHERE seq = ?`)
  const ofScope = connection.statement<{ seq: number }>('SELECT seq FROM memory_notes WHERE scope = ?')
  const remove = connection.statement('DELETE FROM memory_notes WHERE seq = ?')
  const list = filteredQuery<NoteRow>(connection, { select: SELECT, order: 'seq DESC' })

  /** Within a transaction. */
  const put = (note: StoredNote, { mostInScope, vector }: PutOptions) => {
    const { number, notes } = scopes.enter(note.scope)
    if (mostInScope !== undefined && notes > mostInScope) throw scopeIsFull(note.scope, notes - 1)
    const seq = next.get()!.value
    const { id, scope, text, tags, origin, createdAt, updatedAt } = note
    insert.run(seq, id, scope, text, JSON.stringify(tags), origin, createdAt, updatedAt)
    index.add(seq, number, new Set(textWords(searchedNote(note))), tags)
    if (vector) index.addVector(seq, scope, vector)
  }
  const takeAway = ({ seq, scope }: Pick<NoteRow, 'seq' | 'scope'>) => {
    remove.run(seq)
    index.remove(seq)
    scopes.leave(scope)
  }
  const read = (seqs: readonly number[]) =>
    seqs.flatMap((seq) => {
      const row = bySeq.get(seq)
      return row ? [toNote(row)] : []
    })
  const newest = ({ scopes: wanted, limit }: NoteQuery) =>
    wanted === 'all'
      ? list([['seq < ?', ANY_TIME]], limit).map(toNote)
      : wanted
          .flatMap((scope) => list([['scope = ?', scope]], limit))
          .sort((a, b) => b.seq - a.seq)
          .slice(0, limit)
          .map(toNote)

  return {
    add: (note, options = {}) =>
      connection.transaction(() => {
        if (find.get(note.id)) return false
        put(note, options)
        return true
      }),
    replace: (note, options = {}) =>
      connection.transaction(() => {
        const known = find.get(note.id)
        if (!known) return false
        takeAway(known)
        put(note, known.scope === note.scope ? { ...options, mostInScope: undefined } : options)
        return true
      }),
    find(id) {
      const row = find.get(id)
      return row && toNote(row)
    },
    remove: (id) =>
      connection.transaction(() => {
        const known = find.get(id)
        if (known) takeAway(known)
        return known !== undefined
      }),
    removeScope(scope) {
      // Most runs keep no notes, and ending one must not wait for its turn to write.
      if (ofScope.all(scope).length === 0) return 0
      return connection.transaction(() => {
        const rows = ofScope.all(scope)
        for (const { seq } of rows) takeAway({ seq, scope })
        return rows.length
      })
    },
    search({ text, now, ...query }): readonly FoundNote[] {
      const words = queryWords(text)
      const { tags } = query
      const limit = pageSize(query.limit)
      const ask = { words, tags, now, limit }
      const { numbers, notes: size } = scopes.numbers(query.scopes)
      const tagGroup = tags.length > 0 ? [tags.map(tagWord)] : []
      if (words.length === 0) {
        const found = tags.length > 0 ? read(index.find(numbers, tagGroup, limit)) : newest({ ...query, limit })
        return rankNotes(
          found.filter((note) => hasTag(note, tags)),
          { ...ask, weights: new Map() },
        )
      }
      const { seqs, weights } = pickNotes(
        {
          size,
          holdingAll: (all, most) => index.find(numbers, [...all.map((word) => [word]), ...tagGroup], most),
          holding: (word, most) => index.find(numbers, [[word], ...tagGroup], most),
        },
        words,
        limit,
      )
      return rankNotes(
        read(seqs).filter((note) => hasTag(note, tags)),
        { ...ask, weights },
      )
    },
    nearest({ scopes: wanted, vector, tags, limit }) {
      const rows =
        wanted === 'all'
          ? index.vectors(undefined, MOST_VECTORS)
          : wanted.flatMap((scope) => index.vectors(scope, MOST_VECTORS))
      return rows
        .map((row) => ({ seq: row.seq, score: likeness(row.vector, vector) }))
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score)
        .slice(0, tags.length > 0 ? MOST_VECTORS : pageSize(limit))
        .flatMap(({ seq, score }) => read([seq]).map((note) => ({ note, score })))
        .filter(({ note }) => hasTag(note, tags))
        .slice(0, pageSize(limit))
    },
    list: ({ scope, scopePrefix, before = ANY_TIME, limit }) =>
      list(
        [
          ['seq < ?', before],
          ['scope = ?', scope],
          ['scope >= ?', scopePrefix],
          // Behind all that begin so: no scope has a character beyond the last one of Unicode.
          ['scope < ?', scopePrefix && `${scopePrefix}\u{10ffff}`],
        ],
        pageSize(limit),
      ).map((row): KeptNote => ({ ...toNote(row), seq: row.seq })),
  }
}

function toNote({ id, scope, content, tags, origin, created_at, updated_at }: NoteRow): StoredNote {
  return { id, scope, text: content, tags: JSON.parse(tags), origin, createdAt: created_at, updatedAt: updated_at }
}
