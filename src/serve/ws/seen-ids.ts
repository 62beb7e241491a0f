const MOST_OF_A_GENERATION = 5_000

/** The latest ids of a session that were answered, 5,000 at least, each with the number of its answer. */
export class SeenIds {
  #recent: Map<string, number> | undefined
  #older: Map<string, number> | undefined

  find(id: string): number | undefined {
    return this.#recent?.get(id) ?? this.#older?.get(id)
  }

  /** Two generations: to take the oldest of one map away for every new one is slow. */
  add(id: string, seq: number): void {
    this.#recent ??= new Map()
    if (this.#recent.size >= MOST_OF_A_GENERATION) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(id, seq)
  }
}
