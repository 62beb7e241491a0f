import { describe, expect, it } from 'vitest'
import type { SearchOptions } from '../../../../core/src/handles.ts'
import { clampCount, toFileChoice, toSearchJob } from './search-job.ts'

const job = (options: Partial<SearchOptions> = {}) =>
  toSearchJob({ pattern: 'x', ...options }, async () => new Set(['py', 'ts']))
const rules = (...globs: string[]) => toFileChoice({ globs }).globRules.split('\n')

describe('a search', () => {
  it('has these values where nothing is said', async () => {
    expect(await job()).toEqual({
      pattern: 'x',
      isRegex: false,
      multiline: false,
      ignoreCase: false,
      output: 'lines',
      contextLines: 0,
      maxMatches: 1000,
      maxFiles: 2000,
      globRules: '',
      type: undefined,
      includeHidden: false,
      includeIgnored: false,
    })
  })

  it('takes over what is said', async () => {
    const said = { isRegex: true, multiline: true, ignoreCase: true, output: 'lines', contextLines: 3, type: 'ts' }
    const more = { maxMatches: 4, maxFiles: 5, includeHidden: true, includeIgnored: true }
    expect(await job({ ...said, ...more } as SearchOptions)).toMatchObject({ ...said, ...more })
  })

  it('keeps numbers within their limits, and gives lines around a match only with lines', async () => {
    expect(await job({ contextLines: 101, maxMatches: 100_001, maxFiles: 100_001 })).toMatchObject({
      contextLines: 100,
      maxMatches: 100_000,
      maxFiles: 100_000,
    })
    expect(await job({ contextLines: -1, maxMatches: 0, maxFiles: 0 })).toMatchObject({
      contextLines: 0,
      maxMatches: 1,
      maxFiles: 1,
    })
    for (const output of ['files', 'counts'] as const)
      expect(await job({ output, contextLines: 5 })).toMatchObject({ output, contextLines: 0 })
  })

  it.each([
    [undefined, 7],
    [5, 5],
    [5.9, 5],
    [2, 2],
    [1, 2],
    [0, 2],
    [-1, 2],
    [9, 9],
    [10, 9],
    [Number.NaN, 2],
    [Number.POSITIVE_INFINITY, 9],
  ])('takes %j for a number from 2 to 9, by default 7, as %j', (value, expected) => {
    expect(clampCount(value, 7, 2, 9)).toBe(expected)
  })
})

describe('a pattern', () => {
  it.each<[string, Partial<SearchOptions>, string]>([
    ['', {}, 'The pattern is empty; it would match every line.'],
    ['x'.repeat(10_001), {}, 'The pattern has 10001 characters, the limit is 10000.'],
    ['a\0', { multiline: true }, 'The pattern has a NUL character.'],
    ['a\nb', {}, 'The pattern has a line break, but lines are searched one at a time.'],
    ['a\nb', { isRegex: true }, 'The pattern has a line break, but lines are searched one at a time.'],
    ['a\\nb', { isRegex: true }, 'The pattern has a line break, but lines are searched one at a time.'],
    ['a\\\\\\nb', { isRegex: true }, 'The pattern has a line break, but lines are searched one at a time.'],
  ])('%j is refused', async (pattern, options, message) => {
    const hint = message.includes('line break') ? 'Set multiline to true.' : undefined
    const error = await job({ pattern, ...options }).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID', message })
    if (hint) expect(error.fix.hint).toBe(hint)
  })

  it.each<[string, Partial<SearchOptions>]>([
    ['x'.repeat(10_000), {}],
    ['a\\nb', {}],
    ['a\\\\nb', { isRegex: true }],
    ['a\nb', { multiline: true }],
    ['a\\nb', { isRegex: true, multiline: true }],
  ])('%j is taken', async (pattern, options) => {
    expect(await job({ pattern, ...options })).toMatchObject({ pattern })
  })
})

describe('a type of files', () => {
  it.each([
    ['pyt', 'Unknown file type "pyt".', /^Nearest: .*\bpy\b.*\. Or use a glob: \*\.pyt$/],
    ['~'.repeat(101), `Unknown file type "${'~'.repeat(100)}".`, /^Or use a glob: \*\.~{20}$/],
  ])('%j is not known', async (type, message, hint) => {
    await expect(job({ type })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message,
      fix: { hint: expect.stringMatching(hint) },
    })
  })
})

describe('globs', () => {
  it.each<[string[], string[]]>([
    [[], ['']],
    [['*.ts'], ['*', '!*/', '!*.ts']],
    [['!*.ts'], ['*.ts']],
    [
      ['!a', 'b'],
      ['*', '!*/', 'a', '!b'],
    ],
    [['#a'], ['*', '!*/', '!\\#a']],
    [['!!a'], ['\\!a']],
    [['a!#b'], ['*', '!*/', '!a!#b']],
    [['a '], ['*', '!*/', '!a[ ]']],
    [['a b'], ['*', '!*/', '!a b']],
    [['a\t'], ['*', '!*/', '!a[\t]']],
  ])('%j become the lines %j of an ignore file', (globs, expected) => {
    expect(rules(...globs)).toEqual(expected)
  })

  it.each([
    ['', 'A glob has 0 characters; it must have 1 to 1000.'],
    ['!', 'A glob has 0 characters; it must have 1 to 1000.'],
    ['x'.repeat(1001), 'A glob has 1001 characters; it must have 1 to 1000.'],
    ['a\nb', 'The glob "a\\nb" has a line break or a NUL character.'],
    ['a\r', 'The glob "a\\r" has a line break or a NUL character.'],
    ['a\0', 'The glob "a\\u0000" has a line break or a NUL character.'],
    ['[a', 'The glob "[a" cannot be read: a [ is never closed.'],
    ['!{a', 'The glob "{a" cannot be read: a { is never closed.'],
    ['a}', 'The glob "a}" cannot be read: a } was never opened.'],
    ['{a}}', 'The glob "{a}}" cannot be read: a } was never opened.'],
    ['a\\', 'The glob "a\\\\" cannot be read: it ends with a \\.'],
    ['[b-a]', 'The glob "[b-a]" cannot be read: the range b-a runs backwards.'],
  ])('%j are refused', (glob, message) => {
    expect(() => rules(glob)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message }))
    if (message.includes('cannot be read'))
      expect(() => rules(glob)).toThrow(
        expect.objectContaining({ fix: { hint: 'Put a \\ before a character that is meant literally.' } }),
      )
  })

  it('may be a hundred, of a thousand characters each', () => {
    expect(rules(...Array(100).fill('x'.repeat(1000)))).toHaveLength(102)
    expect(rules(`!${'x'.repeat(1000)}`)).toHaveLength(1)
    expect(() => rules(...Array(101).fill('x'))).toThrow('There are 101 globs, the limit is 100.')
  })
})
