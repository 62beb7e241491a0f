import { ToolError } from '@tool-hub/core/errors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundInput, takeInput } from './input.ts'

const limits = { maxDepth: 64, maxBytes: 1_000_000 }
const check = (value: unknown) => boundInput(value, limits)

describe('boundInput', () => {
  it('accepts what JSON can hold, whatever its keys say', () => {
    const values = [
      undefined,
      null,
      true,
      0,
      -1.5,
      'text',
      '😀',
      [],
      {},
      [null, [1]],
      { a: { b: undefined } },
      Object.create(null),
    ]
    for (const value of values) check(value)
    check(JSON.parse('{"toString":1,"hasOwnProperty":2,"":3,"valueOf":[4]}'))
  })

  it('accepts every JSON value within the limits', () => {
    const key = fc
      .string()
      .filter((text) => !['__proto__', 'constructor', 'prototype'].includes(text) && !text.includes('\0'))
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, false),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
        fc.array(tie('value')),
        fc.dictionary(key, tie('value')),
      ),
    })).value
    fc.assert(
      fc.property(json, (value) => {
        const parsed: unknown = JSON.parse(JSON.stringify(value))
        boundInput(parsed, { maxDepth: 64, maxBytes: Buffer.byteLength(JSON.stringify(parsed)) })
      }),
    )
  })

  it('throws nothing but a ToolError, for anything at all', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
    })
    fc.assert(
      fc.property(anything, fc.nat({ max: 100 }), (value, maxBytes) => {
        try {
          boundInput(value, { maxDepth: 3, maxBytes })
        } catch (error) {
          expect(error).toBeInstanceOf(ToolError)
          expect((error as ToolError).code).toBe('INPUT_SCHEMA_INVALID')
          expect((error as ToolError).message.length).toBeLessThan(400)
        }
      }),
    )
  })

  const hostile: [string, () => unknown, string][] = [
    [
      'a key __proto__',
      () => JSON.parse('{"a":[{"__proto__":{"admin":true}}]}'),
      'The input at "/a/0/__proto__" has a forbidden name.',
    ],
    ['a key constructor', () => ({ constructor: 1 }), 'The input at "/constructor" has a forbidden name.'],
    [
      'a hidden key',
      () => Object.defineProperty({}, 'prototype', { value: 1 }),
      'The input at "/prototype" has a forbidden name.',
    ],
    ['half of a surrogate pair', () => ({ a: 'x\ud800' }), 'The input at "/a" has half of a surrogate pair.'],
    ['a key with half of a pair', () => ({ '\udc00': 1 }), 'The input at "/\\udc00" has half of a surrogate pair.'],
    ['a NUL', () => ['a', 'b\0'], 'The input at "/1" has a NUL character.'],
    ['a function', () => ({ a: () => 1 }), 'The input at "/a" is a function.'],
    ['a symbol', () => Symbol('x'), 'The input is a symbol.'],
    ['a BigInt', () => ({ a: 1n }), 'The input at "/a" is a bigint.'],
    ['NaN', () => [Number.NaN], 'The input at "/0" is NaN.'],
    ['Infinity', () => -1 / 0, 'The input is -Infinity.'],
    ['a date', () => ({ at: new Date() }), 'The input at "/at" is not a plain object.'],
    ['a buffer', () => Buffer.from('x'), 'The input is not a plain object.'],
    ['an array of a class', () => new (class extends Array {})(), 'The input is not a plain array.'],
    ['a sparse array', () => Object.assign([1], { 2: 3 }), 'The input at "/1" is a hole in an array.'],
    ['undefined in an array', () => [undefined], 'The input at "/0" is a hole in an array.'],
    [
      'an accessor',
      () => ({
        get a() {
          throw new Error('called')
        },
      }),
      'The input at "/a" is an accessor.',
    ],
    [
      'an accessor in an array',
      () => Object.defineProperty([1], 0, { get: () => 1 }),
      'The input at "/0" is an accessor.',
    ],
    ['a key with slashes', () => ({ 'a/b~c': [1n] }), 'The input at "/a~1b~0c/0" is a bigint.'],
    [
      'a proxy that throws',
      () =>
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('no')
            },
          },
        ),
      'The input cannot be read.',
    ],
  ]
  it.each(hostile)('refuses %s', (_, make, message) => {
    expect(() => check(make())).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message }))
  })

  const PLAIN = 'Pass plain JSON data: objects, arrays, texts, numbers, booleans, null.'
  const JSON_ONLY = 'Pass only what JSON can hold: a large number as text.'
  const LESS = 'Send less, in parts, or have the owner raise limits.input.'
  const self: unknown[] = []
  self.push(self)
  it.each<[string, unknown, string]>([
    ['a forbidden key', { constructor: 1 }, 'Rename the key constructor.'],
    ['half of a surrogate pair', 'x\ud800', 'Send well-formed Unicode.'],
    ['a NUL', 'b\0', 'Remove U+0000 from the text.'],
    ['a BigInt', 1n, JSON_ONLY],
    ['a number that is none', Number.NaN, 'Use a finite number, or null.'],
    ['a date', new Date(0), PLAIN],
    ['an array of a class', new (class extends Array {})(), PLAIN],
    ['an accessor', Object.defineProperty({}, 'a', { get: () => 1 }), PLAIN],
    ['an accessor that only sets', Object.defineProperty({}, 'a', { set: () => {} }), PLAIN],
    ['an accessor in an array', Object.defineProperty([1], 0, { get: () => 1 }), PLAIN],
    ['a hole', new Array(1), 'Use null for no value.'],
    ['a proxy that throws', new Proxy({}, { getPrototypeOf: () => fail() }), 'Pass plain JSON data, not a proxy.'],
    ['a cycle', self, 'Pass a tree: nothing may hold itself.'],
    ['too much', 'x'.repeat(1_000_000), LESS],
    [
      'too deep',
      JSON.parse('['.repeat(65) + ']'.repeat(65)),
      'Flatten the data, or have the owner raise limits.depth.',
    ],
  ])('says what to do about %s', (_, value, hint) => {
    expect(() => check(value)).toThrow(expect.objectContaining({ fix: { hint } }))
  })

  it('copies what it takes, and leaves out nothing', () => {
    const value = { a: [1, 'x', null, true, { b: undefined }], c: {} }
    const taken = check(value) as typeof value
    expect(taken).toStrictEqual(value)
    expect([taken === value, taken.a === value.a, taken.c === value.c]).toEqual([false, false, false])
  })

  it('allows exactly as deep as the limit', () => {
    boundInput([[[]]], { ...limits, maxDepth: 3 })
    expect(() => boundInput([[[[]]]], { ...limits, maxDepth: 3 })).toThrow(
      'The input at "/0/0/0" is nested deeper than 3 levels.',
    )
  })

  it('refuses 5,000 levels, whatever the owner allows', () => {
    const deep: unknown = JSON.parse('['.repeat(5000) + ']'.repeat(5000))
    expect(() => check(deep)).toThrow('nested deeper than 64 levels')
    const anyDepth = { ...limits, maxDepth: Number.POSITIVE_INFINITY }
    expect(() => boundInput(deep, anyDepth)).toThrow('deeper than 1000 levels')
    boundInput(JSON.parse('['.repeat(1000) + ']'.repeat(1000)), anyDepth)
    expect(() => boundInput(JSON.parse('['.repeat(1001) + ']'.repeat(1001)), anyDepth)).toThrow('deeper than 1000')
  })

  it('allows exactly as much as the limit', () => {
    const sizes = [
      ['text', 6],
      [[], 2],
      [{}, 2],
      [{ a: 1 }, 7],
      [[1, 2], 5],
      [null, 4],
      [7, 1],
    ] as const
    for (const [value, maxBytes] of sizes) {
      expect(takeInput(value, { ...limits, maxBytes })).toEqual({ value, bytes: maxBytes })
      expect(() => boundInput(value, { ...limits, maxBytes: maxBytes - 1 })).toThrow('is over the size limit')
    }
  })

  it('names the place of a cycle', () => {
    const cycle: { inner: { list: unknown[] } } = { inner: { list: [] } }
    cycle.inner.list.push(cycle.inner)
    expect(() => check(cycle)).toThrow(/^The input at "\/inner(\/list)?" contains itself\.$/)
    const self: unknown[] = []
    self.push(self)
    expect(() => check(self)).toThrow('The input contains itself.')
  })

  it('refuses 50 MB without looking at all of it, as one text, many numbers or many keys', () => {
    let looks = 0
    const counted = (value: object) =>
      new Proxy(value, {
        getOwnPropertyDescriptor(target, key) {
          looks++
          return Reflect.getOwnPropertyDescriptor(target, key)
        },
      })

    const keys = Object.fromEntries(Array.from({ length: 400_000 }, (_, i) => [`key ${i}`, i]))
    const values = [{ text: 'x'.repeat(50_000_000) }, new Array(25_000_000).fill(1), new Array(2 ** 32 - 1), keys]
    for (const value of values) expect(() => check(counted(value))).toThrow('is over the size limit of 1000000 bytes.')
    expect(looks).toBeLessThan(20_000)
  })

  it('counts keys and elements all together, and looks at no more than the limit', () => {
    const three = { ...limits, maxEntries: 3 }
    for (const value of [{ a: 1, b: 2, c: 3 }, [1, 2, 3], { a: [1, 2] }, [[], {}, null]]) boundInput(value, three)
    for (const value of [{ a: 1, b: 2, c: 3, d: 4 }, [1, 2, 3, 4], { a: [1, 2, 3] }, [[], {}, [null]]])
      expect(() => boundInput(value, three)).toThrow('The input has over 3 keys and elements, all together.')
    expect(() => boundInput(new Array(2 ** 31), { ...three, maxBytes: 2 ** 40 })).toThrow(
      'has over 3 keys and elements',
    )
  })

  it('says how large the input is', () => {
    const value = { text: 'x'.repeat(1_000), list: [1, true, null] }
    const { bytes } = takeInput(value, limits)
    expect(bytes).toBeGreaterThan(1_000)
    expect(bytes).toBeLessThanOrEqual(JSON.stringify(value).length)
  })

  it('does not walk for ever over a small object that is shared', () => {
    let laughs: unknown = ['ha']
    for (let i = 0; i < 60; i++) laughs = [laughs, laughs]
    expect(() => check(laughs)).toThrow('size limit')
  })

  it('keeps the message short for a long way down', () => {
    const key = 'k'.repeat(10_000)
    let value: unknown = 1n
    for (let i = 0; i < 50; i++) value = { [key]: value }
    expect(() => check(value)).toThrow(/^The input at "(\/k{39}…)+.{0,50}" is a bigint\.$/)
  })
})

function fail(): never {
  throw new Error('no')
}
