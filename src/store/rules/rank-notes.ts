import type { FoundNote, StoredNote } from '../../store-parts/memory.ts'
import { compareIds } from './compare-ids.ts'
import { foldTag, queryWords, textWords } from './note-words.ts'

/** What a search wants. */
export interface RankedQuery {
  readonly words: readonly string[]
  /** How much each word tells; 1 unless said. */
  readonly weights: ReadonlyMap<string, number>
  readonly tags: readonly string[]
  readonly now: number
  readonly limit: number
}

/** The usual numbers of BM25: how soon a repeated word counts no more, and how much the length matters. */
const K1 = 1.2
const B = 0.75
/** Words of a note of ordinary length. */
const USUAL_LENGTH = 60
const HALF_LIFE_MS = 30 * 24 * 60 * 60_000
const RECENCY_SHARE = 0.5
const TAG_SHARE = 0.5
/** Words are counted in this much of a note; what only stands behind it counts once. */
const COUNTED_CHARS = 5_000

/**
 * Orders notes that fit: BM25 of their words, lifted by up to a half for what is new (halved every 30 days) and by up
 * to a half for tags that were asked for.
 */
export function rankNotes(notes: readonly StoredNote[], query: RankedQuery): readonly FoundNote[] {
  return notes
    .map((note) => ({ note, score: scoreOf(note, query) }))
    .sort((a, b) => b.score - a.score || b.note.updatedAt - a.note.updatedAt || compareIds(a.note.id, b.note.id))
    .slice(0, query.limit)
}

/** Whether a note has one of the tags, or none was asked for. */
export function hasTag({ tags }: Pick<StoredNote, 'tags'>, asked: readonly string[]): boolean {
  if (asked.length === 0) return true
  const own = new Set(tags.map(foldTag))
  return asked.some((tag) => own.has(foldTag(tag)))
}

/** All text of a note that is searched. */
export function searchedNote({ text, tags }: Pick<StoredNote, 'text' | 'tags'>): string {
  return tags.length === 0 ? text : `${text}\n${tags.join('\n')}`
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

/** Whether a word stands in the part of a note that is not counted. */
function isBehind({ text }: StoredNote, wanted: string): boolean {
  for (const word of textWords(text.slice(COUNTED_CHARS))) if (word === wanted) return true
  return false
}

/** The share of what was asked for that the note is tagged with; words of the query may name tags, too. */
function tagMatch({ tags }: StoredNote, words: readonly string[], asked: readonly string[]): number {
  if (tags.length === 0) return 0
  const own = new Set(tags.map(foldTag))
  if (asked.length > 0) return asked.filter((tag) => own.has(foldTag(tag))).length / asked.length
  const ownWords = new Set(tags.flatMap((tag) => queryWords(tag)))
  return words.length === 0 ? 0 : words.filter((word) => ownWords.has(word)).length / words.length
}
