import { describe, expect, it } from 'vitest'
import { parseFlags } from './read-arguments.ts'

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    maxBytes: { type: 'integer' },
    ratio: { type: ['number', 'null'] },
    deep: { type: 'boolean' },
    tags: { type: 'array' },
    options: { type: 'object' },
    anything: {},
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    level: { enum: ['low', 'high'] },
    max_results: { type: 'integer' },
    constructor: { type: 'string' },
  },
}

describe('parseFlags', () => {
  it.each([
    [['--path', 'x'], { path: 'x' }],
    [['--path=x=y'], { path: 'x=y' }],
    [['--path', '10'], { path: '10' }],
    [['--path='], { path: '' }],
    [['--path', '--deep'], { path: '--deep' }],
    [['--maxBytes', '10'], { maxBytes: 10 }],
    [['--max-bytes', '-10'], { maxBytes: -10 }],
    [['--max-results', '3'], { max_results: 3 }],
    [['--ratio', '1.5e3'], { ratio: 1500 }],
    [['--ratio', 'null'], { ratio: null }],
    [['--deep'], { deep: true }],
    [['--deep', 'false'], { deep: false }],
    [['--no-deep'], { deep: false }],
    [['--deep', '--path', 'x'], { deep: true, path: 'x' }],
    [['--tags', '["a"]'], { tags: ['a'] }],
    [['--options', '{"a":1}'], { options: { a: 1 } }],
    [['--anything', '[1]'], { anything: [1] }],
    [['--anything', 'words'], { anything: 'words' }],
    [['--either', '5'], { either: 5 }],
    [['--either', 'five'], { either: 'five' }],
    [['--level', 'low'], { level: 'low' }],
    [['--', '--path', 'x'], { path: 'x' }],
    [['--constructor', 'x'], { constructor: 'x' }],
  ])('reads %j by the schema', (words, expected) => {
    expect(parseFlags(words, schema)).toEqual(expected)
  })

  it.each([
    [['--pth', 'x'], /no argument --pth/],
    [['--path'], /needs a value/],
    [['--path', 'x', '--path', 'y'], /given twice/],
    [['--path', 'x', 'y'], /stands alone/],
    [['--maxBytes', 'ten'], /must be integer/],
    [['--maxBytes', '0x10'], /must be integer/],
    [['--maxBytes', ''], /must be integer/],
    [['--options', '{'], /must be object/],
    [['--deep=maybe'], /must be boolean/],
    [['--toString', 'x'], /no argument --toString/],
    [['--__proto__', 'x'], /no argument --__proto__/],
  ])('refuses %j', (words, message) => {
    expect(() => parseFlags(words, schema)).toThrow(message)
  })

  it('names the nearest argument for a typo', () => {
    expect(() => parseFlags(['--pth', 'x'], schema)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('--path') }),
    )
  })
})
