import { describe, expect, it } from 'vitest'
import { pickNotes } from './pick-notes.ts'

/** Notes with these words; `asked` lists the queries. */
function notesWith(holding: Readonly<Record<string, readonly number[]>>, size: number) {
  const asked: string[] = []
  const newestFirst = (seqs: Iterable<number>) => [...seqs].sort((a, b) => b - a)
  return {
    asked,
    size,
    holdingAll(words: readonly string[], most: number) {
      asked.push(`${words.join('+')} ${most}`)
      const [first = [], ...others] = words.map((word) => holding[word] ?? [])
      return newestFirst(first.filter((seq) => others.every((seqs) => seqs.includes(seq)))).slice(0, most)
    },
    holding(word: string, most: number) {
      asked.push(`${word} ${most}`)
      return newestFirst(holding[word] ?? []).slice(0, most)
    },
  }
}

describe('the notes that a search ranks', () => {
  it('are those with every word where there are enough, the last 200 of them', () => {
    const notes = notesWith({ tea: [1, 2, 3], milk: [2, 3, 4] }, 10)
    expect(pickNotes(notes, ['tea', 'milk'], 2)).toEqual({ seqs: [3, 2], weights: new Map() })
    expect(notes.asked).toEqual(['tea+milk 200'])
  })

  it('are those with the word where there is only one, however few', () => {
    expect(pickNotes(notesWith({ tea: [1] }, 10), ['tea'], 5)).toEqual({ seqs: [1], weights: new Map() })
  })

  it('are otherwise also those with some words, by how much these tell, the last written first', () => {
    const notes = notesWith({ tea: [1, 2], milk: [2, 3, 4, 5, 6], sugar: [6, 7] }, 10)
    const { seqs, weights } = pickNotes(notes, ['tea', 'milk', 'sugar'], 3)
    expect(notes.asked).toEqual(['tea+milk+sugar 200', 'tea 500', 'milk 500', 'sugar 500'])
    // ln(1 + (10 - 2 + 0.5) / (2 + 0.5)) and ln(1 + (10 - 5 + 0.5) / (5 + 0.5))
    expect(weights.get('tea')).toBeCloseTo(1.4816045409242156, 12)
    expect(weights.get('milk')).toBeCloseTo(Math.LN2, 12)
    expect(seqs).toEqual([6, 2, 7, 1, 5, 4, 3])
  })

  it('come first where they have every word, though others tell more', () => {
    const notes = notesWith({ tea: [1, 2], milk: [1, 2, 9] }, 100)
    expect(pickNotes(notes, ['tea', 'milk'], 3).seqs).toEqual([2, 1, 9])
    const equal = notesWith({ tea: [2, 5], milk: [2, 5] }, 100)
    expect(pickNotes(equal, ['tea', 'milk'], 9).seqs).toEqual([5, 2])
  })

  it('are weighed with 0 others where a word is in more notes than there are', () => {
    const { weights } = pickNotes(notesWith({ tea: [1, 2, 3], milk: [] }, 1), ['tea', 'milk'], 1)
    // ln(1 + 0.5 / 3.5) and ln(1 + 1.5 / 0.5)
    expect(weights.get('tea')).toBeCloseTo(0.13353139262452263, 12)
    expect(weights.get('milk')).toBeCloseTo(1.3862943611198906, 12)
  })

  it('are at most 200', () => {
    const many = Array.from({ length: 300 }, (_, n) => n)
    const { seqs } = pickNotes(notesWith({ tea: many, milk: [] }, 300), ['tea', 'milk'], 5)
    expect(seqs).toEqual(many.slice(100).reverse())
  })
})
