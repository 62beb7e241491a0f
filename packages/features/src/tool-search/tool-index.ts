import { countWords, FIELDS, type IndexedTool, queryTerms, type ToolWords } from './tool-words.ts'

/** How much a word counts in each field: name, server, description, arguments. */
const WEIGHTS = [3, 2, 1, 0.5]
/** How fast repetitions of a word saturate, and how much the length of a field matters. */
const K1 = 3
const B = 0.5

/** The tools that have a word, and how much it counts in each of them. */
interface Postings {
  readonly places: number[]
  readonly weights: number[]
}

/** The words of tools are counted once, however many callers see them: their schemas are the same objects for all. */
const COUNTED = new WeakMap<object, { readonly key: string; readonly words: ToolWords }>()

/** Tools that are indexed in one turn of the event loop. */
const TOOLS_PER_TURN = 100

/**
 * An index of tools by their words: BM25F. It is made of the tools that one caller sees, and of nothing else, so that a
 * tool that the caller may not see changes neither what is found nor its order.
 */
export class ToolIndex {
  readonly #postings = new Map<string, Postings>()
  /** The words by first letter and length, for spelling mistakes; made when the first is searched. */
  #spellings: Map<string, string[]> | undefined
  #scores: Float64Array = new Float64Array(0)

  /** Indexes tools, a few hundred in each turn of the event loop. */
  static async of(tools: readonly IndexedTool[]): Promise<ToolIndex> {
    const counted: ToolWords[] = []
    for (const [place, tool] of tools.entries()) {
      if (place > 0 && place % TOOLS_PER_TURN === 0) await nextTurn()
      counted.push(wordsOf(tool))
    }
    const index = new ToolIndex()
    const average = averages(counted)
    for (const [place, words] of counted.entries()) {
      if (place > 0 && place % TOOLS_PER_TURN === 0) await nextTurn()
      index.#add(place, words, average)
    }
    index.#scores = new Float64Array(tools.length)
    return index
  }

  /** The places of the tools that match, best first; equally good ones in the order of the list. */
  search(query: string, only: (place: number) => boolean = () => true, limit = Number.POSITIVE_INFINITY): number[] {
    const scores = this.#scores
    const found: number[] = []
    const total = scores.length
    for (const word of this.#termsOf(query)) {
      const { places, weights } = this.#postings.get(word)!
      const rarity = Math.log(1 + (total - places.length + 0.5) / (places.length + 0.5))
      for (let at = 0; at < places.length; at++) {
        const place = places[at]!
        const weight = weights[at]!
        if (scores[place] === 0) found.push(place)
        scores[place]! += (rarity * weight * (K1 + 1)) / (K1 + weight)
      }
    }
    const best = choose(found.filter(only), scores, limit)
    for (const place of found) scores[place] = 0
    return best
  }

  #add(place: number, { counts, lengths }: ToolWords, average: Float64Array): void {
    for (const [word, own] of counts) {
      let weight = 0
      for (let field = 0; field < FIELDS.length; field++) {
        if (own[field] === 0) continue
        weight += (WEIGHTS[field]! * own[field]!) / (1 - B + (B * lengths[field]!) / average[field]!)
      }
      const postings = this.#postings.get(word)
      if (postings) {
        postings.places.push(place)
        postings.weights.push(weight)
      } else this.#postings.set(word, { places: [place], weights: [weight] })
    }
  }

  /** The words of a query that the index has, once each; a word that it does not have is taken for a misspelt one. */
  #termsOf(query: string): ReadonlySet<string> {
    const { words, joined } = queryTerms(query)
    const terms = new Set(joined.filter((word) => this.#postings.has(word)))
    for (const word of words) {
      const known = this.#postings.has(word) ? word : this.#spelt(word)
      if (known !== undefined) terms.add(known)
    }
    return terms
  }

  /** The most frequent word that differs in one letter, or in the order of two. */
  #spelt(word: string): string | undefined {
    if (word.length < MIN_SPELT || !/^[a-z]+$/.test(word)) return undefined
    this.#spellings ??= bySpelling(this.#postings.keys())
    let best: string | undefined
    for (const length of [word.length - 1, word.length, word.length + 1]) {
      for (const other of this.#spellings.get(`${word[0]}${length}`) ?? []) {
        if (isNear(word, other) && (best === undefined || this.#isRarer(best, other))) best = other
      }
    }
    return best
  }

  #isRarer(one: string, other: string): boolean {
    return this.#postings.get(one)!.places.length < this.#postings.get(other)!.places.length
  }
}

/** Shorter words differ in one letter from too many others. */
const MIN_SPELT = 5

function bySpelling(words: Iterable<string>): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const word of words) {
    if (word.length < MIN_SPELT - 1 || !/^[a-z]+$/.test(word)) continue
    const key = `${word[0]}${word.length}`
    const group = groups.get(key)
    if (group) group.push(word)
    else groups.set(key, [word])
  }
  return groups
}

function isNear(a: string, b: string): boolean {
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  if (left.length <= 1 && right.length <= 1) return true
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}

function wordsOf(tool: IndexedTool): ToolWords {
  const key = [tool.tool, tool.description, ...(tool.tags ?? [])].join('\n')
  const known = COUNTED.get(tool.parameters)
  if (known?.key === key) return known.words
  const words = countWords(tool)
  COUNTED.set(tool.parameters, { key, words })
  return words
}

function averages(counted: readonly ToolWords[]): Float64Array {
  const sums = new Float64Array(FIELDS.length)
  for (const { lengths } of counted) for (const [field, length] of lengths.entries()) sums[field]! += length
  return sums.map((sum) => (sum === 0 ? 1 : sum / counted.length))
}

/** The best places, in order. Sorting thousands would take longer than scoring them, so few are picked one by one. */
function choose(found: number[], scores: Float64Array, limit: number): number[] {
  const isBetter = (one: number, other: number) =>
    scores[one]! > scores[other]! || (scores[one] === scores[other] && one < other)
  if (limit * MAX_PICKED_SHARE > found.length)
    return found.sort((one, other) => scores[other]! - scores[one]! || one - other).slice(0, limit)
  const best: number[] = []
  for (const place of found) {
    if (best.length === limit && !isBetter(place, best[limit - 1]!)) continue
    let at = Math.min(best.length, limit - 1)
    while (at > 0 && isBetter(place, best[at - 1]!)) {
      best[at] = best[at - 1]!
      at--
    }
    best[at] = place
  }
  return best
}

const MAX_PICKED_SHARE = 8

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
