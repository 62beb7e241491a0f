/** Where notes are looked up by their words; the last written first. */
export interface NoteShelf {
  /** How many notes there are to look in. */
  readonly size: number
  holdingAll(words: readonly string[], most: number): readonly number[]
  holding(word: string, most: number): readonly number[]
}

/** Notes that are worth a closer look, and how much each word tells. */
export interface PickedNotes {
  readonly seqs: readonly number[]
  readonly weights: ReadonlyMap<string, number>
}

/** So many are ranked by all they hold. */
const MOST_RANKED = 200
const MOST_OF_A_WORD = 500

/**
 * Picks what a search ranks: notes with every word when there are enough of them, else also those with some, by how
 * much those tell. Bounded, whatever the number of notes: of a common word only the last 500 are looked at.
 */
export function pickNotes(shelf: NoteShelf, words: readonly string[], wanted: number): PickedNotes {
  const whole = shelf.holdingAll(words, MOST_RANKED)
  if (words.length === 1 || whole.length >= wanted) return { seqs: whole, weights: new Map() }
  const weights = new Map<string, number>()
  const sums = new Map<number, number>()
  for (const word of words) {
    const holding = shelf.holding(word, MOST_OF_A_WORD)
    const weight = Math.log(1 + (Math.max(0, shelf.size - holding.length) + 0.5) / (holding.length + 0.5))
    weights.set(word, weight)
    for (const seq of holding) sums.set(seq, (sums.get(seq) ?? 0) + weight)
  }
  for (const seq of whole) sums.set(seq, Number.POSITIVE_INFINITY)
  const best = [...sums].sort(([a, x], [b, y]) => (x === y ? b - a : y - x))
  return { seqs: best.slice(0, MOST_RANKED).map(([seq]) => seq), weights }
}
