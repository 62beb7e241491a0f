import type { HeadStore, StoredHead } from '../../store.ts'
import { compareIds } from '../rules/compare-ids.ts'

/** Heads of run records in memory: for this process only, so the oldest make room. */
export class MemoryHeads implements HeadStore {
  /** The one that was kept last is last. */
  readonly #heads = new Map<string, StoredHead>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  put(head: StoredHead, continues?: { readonly seq: number; readonly hash: string }): void {
    const key = keyOf(head)
    const known = this.#heads.get(key)
    if (known && known.seq > head.seq) return
    if (continues) this.#replace(head, continues)
    this.#set(key, known?.removedBy === undefined ? head : { ...head, removedBy: known.removedBy })
  }

  list({ run }: { readonly run?: string } = {}): readonly StoredHead[] {
    const heads = [...this.#heads.values()]
    if (run !== undefined) return heads.filter((head) => head.run === run)
    return heads.sort((a, b) => compareIds(a.run, b.run))
  }

  remove(run: string, { by, at }: { readonly by: string; readonly at: number }): void {
    const kept = this.list({ run }).filter(({ removedBy }) => removedBy === undefined)
    for (const head of kept) this.#heads.set(keyOf(head), { ...head, removedBy: by })
    // A run of which no head was kept is on record as removed, too.
    const told = { run, opening: '', seq: 0, hash: '', at, removedBy: by }
    if (kept.length === 0 && !this.#heads.has(keyOf(told))) this.#set(keyOf(told), told)
  }

  #replace({ run, opening }: StoredHead, { seq, hash }: { readonly seq: number; readonly hash: string }): void {
    for (const [key, head] of this.#heads)
      if (head.run === run && head.opening !== opening && head.seq === seq && head.hash === hash)
        this.#heads.delete(key)
  }

  #set(key: string, head: StoredHead): void {
    this.#heads.delete(key)
    this.#heads.set(key, head)
    if (this.#heads.size <= this.#max) return
    const [oldest] = this.#heads.keys()
    this.#heads.delete(oldest!)
  }
}

function keyOf({ run, opening }: StoredHead): string {
  return JSON.stringify([run, opening])
}
