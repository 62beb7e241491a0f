import { expect, it } from 'vitest'
import { pageLines } from './search-text.ts'

const line = (number: number, isMatch: boolean, file = 'a') => ({ file, line: number, text: `${number}`, isMatch })
const LINES = [line(1, false), line(2, true), line(3, false), line(5, false), line(6, true), line(2, true, 'b')]
const numbersOf = (offset: number, limit: number) => {
  const { lines, total } = pageLines(LINES, { offset, limit, context: 1 })
  return { numbers: lines.map(({ file, line: number }) => `${file}${number}`), total }
}

it('keeps the lines around the matches of a page, and no others', () => {
  expect(numbersOf(0, 1)).toEqual({ numbers: ['a1', 'a2', 'a3'], total: 3 })
  expect(numbersOf(1, 2)).toEqual({ numbers: ['a5', 'a6', 'b2'], total: 3 })
})

it('is empty after the last match', () => {
  expect(numbersOf(3, 5)).toEqual({ numbers: [], total: 3 })
})

it('leaves a match of another page out, however near', () => {
  const lines = [line(1, true), line(2, true), line(3, true)]
  const page = pageLines(lines, { offset: 1, limit: 1, context: 5 })
  expect(page.lines).toEqual([line(2, true)])
})
