import { perform, type Work } from '@tool-hub/core/sql'
import { describe, expect, it } from 'vitest'
import type { StoredNote } from '../store.ts'
import { chooseNotes, hasTag, type NoteChoice, type RankedQuery, rankNotes, searchedNote } from './note-ranking.ts'

const DAY_MS = 86_400_000
const NOW = 1_000 * DAY_MS

const note = (text: string, more: Partial<StoredNote> = {}): StoredNote => ({
  ...{ id: 'n', scope: 's', text, tags: [], origin: '{}', createdAt: NOW, updatedAt: NOW },
  ...more,
})
const query = (words: readonly string[], more: Partial<RankedQuery> = {}): RankedQuery => ({
  ...{ words, weights: new Map(), tags: [], now: NOW, limit: 10 },
  ...more,
})
const scoreOf = (one: StoredNote, asked: RankedQuery) => rankNotes([one], asked)[0]!.score
const filler = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(' ')

describe('the score of a note', () => {
  /** BM25 with k1 = 1.2, b = 0.75 and 60 words as the usual length, times 1.5 for a note of this moment. */
  it.each([
    ['one word of one', 'tea', 2.509505703422054],
    ['three of sixty', `tea tea tea ${filler(57)}`, 2.357142857142857],
    ['none', 'milk', 0],
  ])('is that of BM25: %s', (_, text, score) => {
    expect(scoreOf(note(text), query(['tea']))).toBeCloseTo(score, 12)
  })

  it('is the sum over the words of the query, each with what it tells', () => {
    const weights = new Map([
      ['tea', 2],
      ['milk', 0.5],
    ])
    const text = `tea milk milk ${filler(27)}`
    expect(scoreOf(note(text), query(['tea', 'milk'], { weights }))).toBeCloseTo(1.5 * 3.314285714285715, 12)
  })

  it('counts the first 5,000 characters; a word that only stands behind them counts once', () => {
    const long = 'tea '.repeat(1_250)
    expect(scoreOf(note(`${long}coffee coffee`), query(['tea']))).toBeCloseTo(1.5 * 2.16697529648162, 12)
    expect(scoreOf(note(`${long}coffee coffee`), query(['coffee']))).toBeCloseTo(1.5 * 0.10972568578553617, 12)
    expect(scoreOf(note(`${long}tea`), query(['tea']))).toBeCloseTo(1.5 * 2.16697529648162, 12)
    expect(scoreOf(note(`${long}coffee`), query(['milk']))).toBe(0)
  })

  it.each([
    ['now', NOW, 1.5],
    ['in the future, by another clock', NOW + DAY_MS, 1.5],
    ['30 days ago', NOW - 30 * DAY_MS, 1.25],
    ['60 days ago', NOW - 60 * DAY_MS, 1.125],
  ])('is lifted by half for what is new, halved every 30 days: %s', (_, updatedAt, score) => {
    expect(scoreOf(note('tea', { updatedAt }), query([]))).toBeCloseTo(score, 12)
  })

  it.each([
    ['none of the note', [], ['web'], [], 1.5],
    ['one of one that was asked for', ['Web '], ['web'], [], 2],
    ['one of two', ['web'], ['web', 'mail'], [], 1.75],
    ['none that was asked for', ['mail'], ['web'], [], 1.5],
    ['no words and none asked for', ['mail'], [], [], 1.5],
  ])('is lifted by half for tags: %s', (_, tags, asked, words, score) => {
    expect(scoreOf(note('x', { tags }), query(words, { tags: asked }))).toBeCloseTo(score, 12)
  })

  it('is lifted for tags that the words of the query name', () => {
    const tagged = note('tea', { tags: ['Hot Drinks'] })
    const plain = note('tea hot drinks')
    const words = ['tea', 'drink']
    expect(scoreOf(tagged, query(words)) / scoreOf(plain, query(words))).toBeCloseTo(1.75 / 1.5, 12)
  })
})

describe('notes that were found', () => {
  const ids = (notes: readonly StoredNote[], asked: RankedQuery) =>
    rankNotes(notes, asked).map((found) => found.note.id)

  it('come by their score, then the last changed first, then by id', () => {
    const later = { updatedAt: NOW + 2 }
    const notes = [
      note('tea', { id: 'c', ...later }),
      note('tea', { id: 'a', ...later }),
      note('tea', { id: 'b', ...later }),
      note('tea', { id: 'early', updatedAt: NOW + 1 }),
      note('tea tea', { id: 'best' }),
      note('tea', { id: 'latest', updatedAt: NOW + 3 }),
    ]
    const order = ['best', 'latest', 'a', 'b', 'c', 'early']
    expect(ids(notes, query(['tea']))).toEqual(order)
    expect(ids(notes.toReversed(), query(['tea']))).toEqual(order)
    expect(ids(notes, query(['tea'], { limit: 2 }))).toEqual(['best', 'latest'])
  })

  it('have one of the tags that were asked for, or any if none was', () => {
    expect(hasTag({ tags: [] }, [])).toBe(true)
    expect(hasTag({ tags: [] }, ['web'])).toBe(false)
    expect(hasTag({ tags: ['Web', 'mail'] }, ['other', ' web'])).toBe(true)
    expect(hasTag({ tags: ['mail'] }, ['web'])).toBe(false)
  })

  it('are searched in their text and their tags', () => {
    expect(searchedNote({ text: 'tea', tags: [] })).toBe('tea')
    expect(searchedNote({ text: 'tea', tags: ['hot', 'drink'] })).toBe('tea\nhot\ndrink')
  })
})

/** Chooses notes without a database. */
function choose(...values: Parameters<typeof chooseNotes>): NoteChoice {
  const queries = { dialect: 'sqlite' as const, all: () => [], get: () => undefined, run: () => 0 }
  return perform(queries, chooseNotes(...values)) as NoteChoice
}

/** Notes with these words; `asked` lists the queries. */
function notesWith(holding: Readonly<Record<string, readonly number[]>>, size: number) {
  const asked: string[] = []
  const newestFirst = (seqs: Iterable<number>) => [...seqs].sort((a, b) => b - a)
  return {
    asked,
    size,
    *withAll(words: readonly string[], most: number): Work<readonly number[]> {
      yield* []
      asked.push(`${words.join('+')} ${most}`)
      const [first = [], ...others] = words.map((word) => holding[word] ?? [])
      return newestFirst(first.filter((seq) => others.every((seqs) => seqs.includes(seq)))).slice(0, most)
    },
    *withWord(word: string, most: number): Work<readonly number[]> {
      yield* []
      asked.push(`${word} ${most}`)
      return newestFirst(holding[word] ?? []).slice(0, most)
    },
  }
}

describe('the notes that a search ranks', () => {
  it('are those with every word where there are enough, the last 200 of them', () => {
    const notes = notesWith({ tea: [1, 2, 3], milk: [2, 3, 4] }, 10)
    expect(choose(notes, ['tea', 'milk'], 2)).toEqual({ seqs: [3, 2], weights: new Map() })
    expect(notes.asked).toEqual(['tea+milk 200'])
  })

  it('are those with the word where there is only one, however few', () => {
    expect(choose(notesWith({ tea: [1] }, 10), ['tea'], 5)).toEqual({ seqs: [1], weights: new Map() })
  })

  it('are otherwise also those with some words, by how much these tell, the last written first', () => {
    const notes = notesWith({ tea: [1, 2], milk: [2, 3, 4, 5, 6], sugar: [6, 7] }, 10)
    const { seqs, weights } = choose(notes, ['tea', 'milk', 'sugar'], 3)
    expect(notes.asked).toEqual(['tea+milk+sugar 200', 'tea 500', 'milk 500', 'sugar 500'])
    // ln(1 + (10 - 2 + 0.5) / (2 + 0.5)) and ln(1 + (10 - 5 + 0.5) / (5 + 0.5))
    expect(weights.get('tea')).toBeCloseTo(1.4816045409242156, 12)
    expect(weights.get('milk')).toBeCloseTo(Math.LN2, 12)
    expect(seqs).toEqual([6, 2, 7, 1, 5, 4, 3])
  })

  it('come first where they have every word, though others tell more', () => {
    const notes = notesWith({ tea: [1, 2], milk: [1, 2, 9] }, 100)
    expect(choose(notes, ['tea', 'milk'], 3).seqs).toEqual([2, 1, 9])
    const equal = notesWith({ tea: [2, 5], milk: [2, 5] }, 100)
    expect(choose(equal, ['tea', 'milk'], 9).seqs).toEqual([5, 2])
  })

  it('are weighed with 0 others where a word is in more notes than there are', () => {
    const { weights } = choose(notesWith({ tea: [1, 2, 3], milk: [] }, 1), ['tea', 'milk'], 1)
    // ln(1 + 0.5 / 3.5) and ln(1 + 1.5 / 0.5)
    expect(weights.get('tea')).toBeCloseTo(0.13353139262452263, 12)
    expect(weights.get('milk')).toBeCloseTo(1.3862943611198906, 12)
  })

  it('are at most 200', () => {
    const many = Array.from({ length: 300 }, (_, n) => n)
    const { seqs } = choose(notesWith({ tea: many, milk: [] }, 300), ['tea', 'milk'], 5)
    expect(seqs).toEqual(many.slice(100).reverse())
  })
})
