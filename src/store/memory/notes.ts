import type { MemoryStore, Note } from '../../store.ts'
import { pageSize } from '../rules/page-size.ts'
import { foldText, foldWords } from '../rules/search-text.ts'
import { assertRoom } from './assert-room.ts'

/** Notes of agents in memory. */
export class MemoryNotes implements MemoryStore {
  readonly #notes = new Map<string, { readonly note: Note; readonly folded: string }>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  put(note: Note): void {
    if (!this.#notes.has(note.id)) assertRoom(this.#notes, this.#max, 'notes')
    this.#notes.set(note.id, { note: { ...note }, folded: foldText(note.text) })
  }

  find(id: string): Note | undefined {
    return this.#notes.get(id)?.note
  }

  search({ scope, words, limit }: { scope: string; words: readonly string[]; limit: number }): readonly Note[] {
    const wanted = foldWords(words)
    return [...this.#notes.values()]
      .filter(({ note, folded }) => note.scope === scope && wanted.every((word) => folded.includes(word)))
      .map(({ note }) => note)
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
      .slice(0, pageSize(limit))
  }

  remove(id: string): boolean {
    return this.#notes.delete(id)
  }
}
