import { ToolError } from '../../errors.ts'
import type { FoundNote, KeptNote, MemoryStore, NoteQuery, StoredNote } from '../../store-parts/memory.ts'
import { likeness, MOST_VECTORS } from '../rules/note-vectors.ts'
import { queryWords, textWords } from '../rules/note-words.ts'
import { pageSize } from '../rules/page-size.ts'
import { pickNotes } from '../rules/pick-notes.ts'
import { hasTag, rankNotes, searchedNote } from '../rules/rank-notes.ts'
import { scopeIsFull } from '../rules/scope-is-full.ts'
import { assertRoom } from './assert-room.ts'

interface HeldNote extends KeptNote {
  readonly words: ReadonlySet<string>
  readonly vector: Float32Array | undefined
}

/** Notes of agents in memory. */
export class MemoryNotes implements MemoryStore {
  readonly #notes = new Map<string, HeldNote>()
  readonly #max: number
  #seq = 0

  constructor(max: number) {
    this.#max = max
  }

  add(note: StoredNote, options: Parameters<MemoryStore['add']>[1] = {}): boolean {
    if (this.#notes.has(note.id)) return false
    assertRoom(this.#notes, this.#max, 'notes')
    this.#put(note, options)
    return true
  }

  replace(note: StoredNote, options: Parameters<MemoryStore['replace']>[1] = {}): boolean {
    const known = this.#notes.get(note.id)
    if (!known) return false
    // What the new one brings no room for must not take the old one away.
    this.#put(note, known.scope === note.scope ? { ...options, mostInScope: undefined } : options)
    return true
  }

  find(id: string): StoredNote | undefined {
    const held = this.#notes.get(id)
    return held && plain(held)
  }

  remove(id: string): boolean {
    return this.#notes.delete(id)
  }

  removeScope(scope: string): number {
    const gone = [...this.#notes.values()].filter((note) => note.scope === scope)
    for (const { id } of gone) this.#notes.delete(id)
    return gone.length
  }

  search(query: NoteQuery & { readonly text: string; readonly now: number }): readonly FoundNote[] {
    const words = queryWords(query.text)
    const here = this.#within(query)
    const bySeq = new Map(here.map((note) => [note.seq, note]))
    const limit = pageSize(query.limit)
    const ask = { words, tags: query.tags, now: query.now, limit }
    if (words.length === 0) return rankNotes(here.slice(0, limit).map(plain), { ...ask, weights: new Map() })
    const those = (fits: (note: HeldNote) => boolean, most: number) =>
      here
        .filter(fits)
        .slice(0, most)
        .map(({ seq }) => seq)
    const { seqs, weights } = pickNotes(
      {
        size: here.length,
        holdingAll: (all, most) => those((note) => all.every((word) => note.words.has(word)), most),
        holding: (word, most) => those((note) => note.words.has(word), most),
      },
      words,
      limit,
    )
    return rankNotes(
      seqs.map((seq) => plain(bySeq.get(seq)!)),
      { ...ask, weights },
    )
  }

  nearest({ vector, limit, ...query }: NoteQuery & { readonly vector: Float32Array }): readonly FoundNote[] {
    return this.#within(query)
      .filter((note) => note.vector !== undefined)
      .slice(0, MOST_VECTORS)
      .map((note) => ({ note: plain(note), score: likeness(note.vector!, vector) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, pageSize(limit))
  }

  list({ scope, scopePrefix = '', before = Number.POSITIVE_INFINITY, limit }: Parameters<MemoryStore['list']>[0]) {
    return this.#newest()
      .filter((note) => note.seq < before && note.scope.startsWith(scopePrefix))
      .filter((note) => scope === undefined || note.scope === scope)
      .slice(0, pageSize(limit))
      .map((note): KeptNote => ({ ...plain(note), seq: note.seq }))
  }

  #put(note: StoredNote, { mostInScope, vector }: NonNullable<Parameters<MemoryStore['add']>[1]>): void {
    if (mostInScope !== undefined) {
      const there = [...this.#notes.values()].filter(({ scope }) => scope === note.scope).length
      if (there >= mostInScope) throw scopeIsFull(note.scope, there)
    }
    const words = new Set(textWords(searchedNote(note)))
    this.#notes.set(note.id, { ...plain(note), seq: ++this.#seq, words, vector })
  }

  #newest(): HeldNote[] {
    return [...this.#notes.values()].sort((a, b) => b.seq - a.seq)
  }

  #within({ scopes, tags }: Omit<NoteQuery, 'limit'>): HeldNote[] {
    const wanted = scopes === 'all' ? undefined : new Set(scopes)
    return this.#newest().filter((note) => (wanted?.has(note.scope) ?? true) && hasTag(note, tags))
  }
}

function plain({ id, scope, text, tags, origin, createdAt, updatedAt }: StoredNote): StoredNote {
  if (text.includes('\0')) throw new ToolError('INPUT_SCHEMA_INVALID', 'A note may hold no NUL character.')
  return { id, scope, text, tags: [...tags], origin, createdAt, updatedAt }
}
