import { ToolError } from '@tool-hub/core'
import { COMMON_WORDS, foldLetters, isUnspaced, withoutPlural, wordPieces } from '@tool-hub/core/lib'
import { compareIds, type Work } from '@tool-hub/core/sql'
import type { FoundNote, StoredNote } from '../store.ts'

/** A search, with its words prepared. */
export interface RankedQuery {
  readonly words: readonly string[]
  /** The weight of each word: rare words have more. Default: 1. */
  readonly weights: ReadonlyMap<string, number>
  readonly tags: readonly string[]
  readonly now: number
  readonly limit: number
}

/** The usual parameters of BM25: how fast repetitions saturate, and how much the length matters. */
const K1 = 1.2
const B = 0.75
/** Number of words of a typical note. */
const USUAL_LENGTH = 60
const HALF_LIFE_MS = 30 * 24 * 60 * 60_000
const RECENCY_SHARE = 0.5
const TAG_SHARE = 0.5
/** Words are counted in this much of a note; a word that occurs only after it counts once. */
const COUNTED_CHARS = 5_000

/**
 * Orders notes that match: BM25 of their words, raised by up to a half for new notes (halved every 30 days) and by up
 * to a half for matching tags.
 */
export function rankNotes(notes: readonly StoredNote[], query: RankedQuery): readonly FoundNote[] {
  return notes
    .map((note) => ({ note, score: scoreOf(note, query) }))
    .sort((a, b) => b.score - a.score || b.note.updatedAt - a.note.updatedAt || compareIds(a.note.id, b.note.id))
    .slice(0, query.limit)
}

/** Whether a note has one of the tags, or no tag is asked for. */
export function hasTag({ tags }: Pick<StoredNote, 'tags'>, asked: readonly string[]): boolean {
  if (asked.length === 0) return true
  const own = new Set(tags.map(foldTag))
  return asked.some((tag) => own.has(foldTag(tag)))
}

/** The text of a note that is searched: content and tags. */
export function searchedNote({ text, tags }: Pick<StoredNote, 'text' | 'tags'>): string {
  return tags.length === 0 ? text : `${text}\n${tags.join('\n')}`
}

/** Finds notes by their words, newest first. */
export interface NoteLookup {
  /** How many notes there are. */
  readonly size: number
  withAll(words: readonly string[], most: number): Work<readonly number[]>
  withWord(word: string, most: number): Work<readonly number[]>
}

/** The notes to rank, and the weight of each word. */
export interface NoteChoice {
  readonly seqs: readonly number[]
  readonly weights: ReadonlyMap<string, number>
}

/** Maximum notes ranked by their full content. */
const MAX_RANKED = 200
const MAX_OF_A_WORD = 500

/**
 * Chooses the notes that a search ranks: those with every word if there are enough of them, else also those with some
 * words, by the weight of these. The cost does not grow with the number of notes: of each word, the newest 500 are read.
 */
export function* chooseNotes(notes: NoteLookup, words: readonly string[], wanted: number): Work<NoteChoice> {
  const whole = yield* notes.withAll(words, MAX_RANKED)
  if (words.length === 1 || whole.length >= wanted) return { seqs: whole, weights: new Map() }
  const weights = new Map<string, number>()
  const sums = new Map<number, number>()
  for (const word of words) {
    const seqs = yield* notes.withWord(word, MAX_OF_A_WORD)
    const weight = Math.log(1 + (Math.max(0, notes.size - seqs.length) + 0.5) / (seqs.length + 0.5))
    weights.set(word, weight)
    for (const seq of seqs) sums.set(seq, (sums.get(seq) ?? 0) + weight)
  }
  for (const seq of whole) sums.set(seq, Number.POSITIVE_INFINITY)
  const best = [...sums].sort(([a, x], [b, y]) => (x === y ? b - a : y - x))
  return { seqs: best.slice(0, MAX_RANKED).map(([seq]) => seq), weights }
}

function scoreOf(note: StoredNote, { words, weights, tags, now }: RankedQuery): number {
  const age = Math.max(0, now - note.updatedAt)
  const recency = 2 ** (-age / HALF_LIFE_MS)
  const lifted = 1 + RECENCY_SHARE * recency + TAG_SHARE * tagMatch(note, words, tags)
  return (words.length === 0 ? 1 : bm25(note, words, weights)) * lifted
}

function bm25(note: StoredNote, words: readonly string[], weights: ReadonlyMap<string, number>): number {
  const counts = new Map(words.map((word) => [word, 0]))
  let length = 0
  for (const word of textWords(searchedNote({ ...note, text: note.text.slice(0, COUNTED_CHARS) }))) {
    length++
    const count = counts.get(word)
    if (count !== undefined) counts.set(word, count + 1)
  }
  let sum = 0
  for (const [word, counted] of counts) {
    const count = counted === 0 && isBehind(note, word) ? 1 : counted
    sum += ((weights.get(word) ?? 1) * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / USUAL_LENGTH))
  }
  return sum
}

/** Whether a word occurs after the part of a note in which words are counted. */
function isBehind({ text }: StoredNote, wanted: string): boolean {
  for (const word of textWords(text.slice(COUNTED_CHARS))) if (word === wanted) return true
  return false
}

/** The share of the wanted tags that the note has; without tags, words of the query are compared with the tags. */
function tagMatch({ tags }: StoredNote, words: readonly string[], asked: readonly string[]): number {
  if (tags.length === 0) return 0
  const own = new Set(tags.map(foldTag))
  if (asked.length > 0) return asked.filter((tag) => own.has(foldTag(tag))).length / asked.length
  const ownWords = new Set(tags.flatMap((tag) => queryWords(tag)))
  return words.length === 0 ? 0 : words.filter((word) => ownWords.has(word)).length / words.length
}

const MAX_WORD_LENGTH = 40
const MAX_QUERY_LENGTH = 2_000
const MAX_WORDS = 32

/** The words of a text, with repetitions; for scripts without spaces, each character and each pair of characters. */
export function* textWords(text: string): Generator<string> {
  for (const piece of wordPieces(foldLetters(text))) {
    if (!isUnspaced(piece)) {
      yield stem(piece)
      continue
    }
    const characters = [...piece]
    yield* characters
    for (let place = 1; place < characters.length; place++) yield `${characters[place - 1]}${characters[place]}`
  }
}

/** The distinct words of a query; for scripts without spaces only pairs, which are more specific than characters. */
export function queryWords(text: string): readonly string[] {
  if (text.length > MAX_QUERY_LENGTH)
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      `A query has at most ${MAX_QUERY_LENGTH} characters, not ${text.length}.`,
      { hint: 'Use fewer words.' },
    )
  const words = new Set<string>()
  for (const piece of wordPieces(foldLetters(text))) {
    if (!isUnspaced(piece)) {
      words.add(stem(piece))
      continue
    }
    const characters = [...piece]
    if (characters.length === 1) words.add(piece)
    for (let place = 1; place < characters.length; place++) words.add(`${characters[place - 1]}${characters[place]}`)
  }
  const telling = [...words].filter((word) => !COMMON_WORDS.has(word))
  return (telling.length > 0 ? telling : [...words]).slice(0, MAX_WORDS)
}

/** A tag for comparison: trimmed, without case and accents. */
export function foldTag(tag: string): string {
  return foldLetters(tag).trim()
}

/** A word for comparison: of bounded length, and without an English plural. */
function stem(word: string): string {
  return withoutPlural(word.slice(0, MAX_WORD_LENGTH))
}
