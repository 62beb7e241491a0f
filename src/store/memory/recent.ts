import { LRUCache } from 'lru-cache'

/** What was set last, up to a number of entries; made with the first, since it reserves room for all at once. */
export class Recent<T extends object> {
  readonly #max: number
  #entries: LRUCache<string, T> | undefined

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): T | undefined {
    return this.#entries?.get(key)
  }

  set(key: string, value: T): void {
    this.#entries ??= new LRUCache({ max: this.#max })
    this.#entries.set(key, value)
  }

  delete(key: string): void {
    this.#entries?.delete(key)
  }

  clear(): void {
    this.#entries?.clear()
  }

  *entries(): Generator<[string, T]> {
    if (this.#entries) yield* this.#entries.entries()
  }

  *values(): Generator<T> {
    if (this.#entries) yield* this.#entries.values()
  }
}
