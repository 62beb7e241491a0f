import { describe, expect, it } from 'vitest'
import { foldTag, queryWords, textWords } from './note-ranking.ts'

describe('the words of a text', () => {
  it.each([
    ['cats', 'cat'],
    ['gas', 'gas'],
    ['hobbies', 'hobby'],
    ['diesels', 'diesel'],
    ['calories', 'calory'],
    ['eyries', 'eyry'],
    ['aies', 'aie'],
    ['reies', 'reie'],
    ['boxes', 'boxe'],
    ['shoes', 'shoe'],
    ['business', 'business'],
    ['status', 'status'],
    ['process', 'process'],
    ['tag2s', 'tag2s'],
    ['2tags', '2tags'],
    ['server', 'server'],
  ])('have no English plural: %s is %s', (word, stemmed) => {
    expect([...textWords(word)]).toEqual([stemmed])
  })

  it('are there as often as the text has them, in its order', () => {
    expect([...textWords('Tea, tea and (milk)')]).toEqual(['tea', 'tea', 'and', 'milk'])
  })

  it('are cut after 40 characters, before the plural is taken off', () => {
    const long = 'a'.repeat(39)
    expect([...textWords(`${long}bs`)]).toEqual([`${long}b`])
    expect([...textWords(`${long}s`)]).toEqual([long])
    expect([...textWords(`${long}bc`)]).toEqual([`${long}b`])
  })

  it('are the characters and the pairs of neighbours where a script has no blanks', () => {
    expect([...textWords('北京市')]).toEqual(['北', '京', '市', '北京', '京市'])
    expect([...textWords('deploy到北')]).toEqual(['deploy', '到', '北', '到北'])
  })

  it.each([
    ['Überall', 'uberall'],
    ['plain é', 'plain e'],
    ['é plain', 'e plain'],
    ['ＡＰＩ', 'api'],
  ])('are without case, accents and width: %s', (text, folded) => {
    expect([...textWords(text)].join(' ')).toBe(folded)
  })
})

describe('the words that a search looks for', () => {
  it('are listed once each, without stop words unless all are stop words', () => {
    expect(queryWords('What is the api key of the api?')).toEqual(['api', 'key'])
    expect(queryWords('who is the')).toEqual(['who', 'is', 'the'])
    expect(queryWords('?!')).toEqual([])
  })

  it('are pairs where a script has no blanks, or a single character that stands alone', () => {
    expect(queryWords('北京市')).toEqual(['北京', '京市'])
    expect(queryWords('北')).toEqual(['北'])
    expect(queryWords('cats 北京')).toEqual(['cat', '北京'])
  })

  it('are at most 32', () => {
    const words = Array.from({ length: 33 }, (_, n) => `word${n}`)
    expect(queryWords(words.join(' '))).toEqual(words.slice(0, 32))
  })

  it('are those of a query of at most 2,000 characters', () => {
    expect(queryWords(`tea${' '.repeat(1_997)}`)).toEqual(['tea'])
    expect(() => queryWords(`tea${' '.repeat(1_998)}`)).toThrow(
      expect.objectContaining({
        code: 'INPUT_SCHEMA_INVALID',
        message: 'A query has at most 2000 characters, not 2001.',
        fix: { hint: 'Use fewer words.' },
      }),
    )
  })
})

it('compares tags without case, accents and the blanks around them', () => {
  expect(foldTag('  Café au Lait ')).toBe('cafe au lait')
})
