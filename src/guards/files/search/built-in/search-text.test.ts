import { describe, expect, it } from 'vitest'
import type { SearchJob } from '../search-job.ts'
import { createFinder } from './line-finder.ts'
import { searchText } from './search-text.ts'

const JOB: SearchJob = {
  pattern: 'x',
  isRegex: true,
  ignoreCase: false,
  multiline: false,
  contextLines: 0,
  output: 'lines',
  maxMatches: 100,
  maxFiles: 100,
  globRules: '',
  includeHidden: false,
  includeIgnored: false,
}

function search(text: string, given: Partial<SearchJob>) {
  const job = { ...JOB, ...given }
  return searchText(text, createFinder(job), job)
}

/** The lines as `number:text`, with a star before those that match. */
const lines = (text: string, given: Partial<SearchJob>) =>
  search(text, given)?.lines.map(({ line, text: shown, isMatch }) => `${isMatch ? '*' : ''}${line}:${shown}`)

describe('one line at a time', () => {
  it.each<[string, string, Partial<SearchJob>, string[] | undefined]>([
    ['every line that matches', 'x\na\nbx', {}, ['*1:x', '*3:bx']],
    ['no line', 'a\nb\n', {}, undefined],
    ['no line of an empty text', '', { pattern: '^' }, undefined],
    ['no line after the last line end', 'a\n', { pattern: '^$' }, undefined],
    ['an empty line', '\na\n', { pattern: '^$' }, ['*1:']],
    ['lines of Windows, without their ends', 'x\r\nax\r\n', {}, ['*1:x', '*2:ax']],
    ['a last line that ends with a carriage return', 'x\r', {}, ['*1:x']],
    ['carriage returns inside of a line', 'a\rx\rb\n\rx\r\r\n', {}, ['*1:a\rx\rb', '*2:\rx\r']],
    ['plain text', 'a.b\naxb', { pattern: 'a.b', isRegex: false }, ['*1:a.b']],
  ])('finds %s', (_, text, given, expected) => {
    expect(lines(text, given)).toEqual(expected)
  })

  it('looks for one match more than is wanted, for one when only the file is named, and for all to count', () => {
    const text = 'x\n'.repeat(10)
    expect(search(text, { maxMatches: 3 })).toMatchObject({ matches: 4 })
    expect(search(text, { output: 'files' })).toEqual({ matches: 1, lines: [] })
    expect(search(text, { output: 'counts', maxMatches: 3 })).toEqual({ matches: 10, lines: [] })
  })
})

describe('over several lines', () => {
  const blocks = (text: string, pattern: string, given: Partial<SearchJob> = {}) =>
    lines(text, { pattern, multiline: true, ...given })

  it.each<[string, string, string, string[] | undefined]>([
    ['a match in one line', 'a\nx\nb', 'x', ['*2:x']],
    ['a match in the last line', 'a\nb\nx', 'x', ['*3:x']],
    ['a match at the beginning of a line', 'a\nxb\nc', '^x', ['*2:xb']],
    ['a match that ends with a line end, without the next line', 'a\nb\nc', 'a\\n', ['*1:a']],
    ['a match that ends after the first character of a line', 'a\nb\nc', 'a\\nb', ['*1:a', '*2:b']],
    ['two matches in one line once', 'xax\nb', 'x', ['*1:xax']],
    ['matches in lines that are far apart', 'x\na\na\na\nx\n', 'x', ['*1:x', '*5:x']],
    ['a match of all lines', 'a\nb\nc\n', '(?s).+', ['*1:a', '*2:b', '*3:c']],
    ['matches without length, on each line once', 'a\nb\n', 'z*', ['*1:a', '*2:b']],
    ['matches without length up to an end without a line end', 'a\nb', 'z*', ['*1:a', '*2:b']],
    ['no match behind the last line end', 'a\n', '\\z', undefined],
    ['no match in an empty text', '', 'z*', undefined],
    ['the end of a line of Windows', 'a\r\nb\r\n', 'a$\\nb', ['*1:a', '*2:b']],
    ['a carriage return that is asked for', 'a\r\nb\r\n', 'a\\r\\nb', ['*1:a', '*2:b']],
    ['no line end of Windows without its carriage return', 'a\r\nb\r\n', 'a\\nb(\\r)?', undefined],
  ])('finds %s', (_, text, pattern, expected) => {
    expect(blocks(text, pattern)).toEqual(expected)
  })

  it('counts lines, not matches, and ends where enough is known', () => {
    const text = 'x x\n'.repeat(10)
    expect(search(text, { multiline: true, output: 'counts' })).toMatchObject({ matches: 10 })
    expect(search(text, { multiline: true, maxMatches: 3 })).toMatchObject({ matches: 4 })
    expect(search(text, { multiline: true, output: 'files', pattern: '(?s).*' })).toEqual({ matches: 1, lines: [] })
  })
})

describe('the lines around a match', () => {
  const around = (text: string, contextLines: number) =>
    lines(text, { contextLines })?.map((line) => line.split(':')[0])

  it.each<[string, string, number, string[]]>([
    ['are as many as are asked for', '1\n2\n3\nx\n5\n6\n7\n', 2, ['2', '3', '*4', '5', '6']],
    ['end at the first and the last line', '1\nx\n3', 5, ['1', '*2', '3']],
    ['are given once where they overlap', '1\nx\n3\nx\n5\n6', 1, ['1', '*2', '3', '*4', '5']],
    ['are given once between neighbours', 'x\nx\nx\n4', 1, ['*1', '*2', '*3', '4']],
    ['leave a gap where there is one', 'x\n2\n3\n4\nx', 1, ['*1', '2', '4', '*5']],
    ['are none if none are asked for', '1\nx\n3', 0, ['*2']],
  ])('%s', (_, text, contextLines, expected) => {
    expect(around(text, contextLines)).toEqual(expected)
  })
})

it('cuts a long line around its match, also where the match goes over several lines', () => {
  const long = `${'a'.repeat(600)}x${'b'.repeat(600)}`
  const shown = `…${'a'.repeat(150)}x${'b'.repeat(349)}…`
  expect(lines(long, {})).toEqual([`*1:${shown}`])
  expect(lines(`1\n${long}\n3`, { multiline: true })).toEqual([`*2:${shown}`])
  // In the lines after the first, the match goes on at the beginning.
  expect(lines(`x\n${'c'.repeat(600)}`, { multiline: true, pattern: 'x\\nc+' })).toEqual([
    '*1:x',
    `*2:${'c'.repeat(500)}…`,
  ])
})
