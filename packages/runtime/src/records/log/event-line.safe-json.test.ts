import { describe, expect, it } from 'vitest'
import { safeJson } from './event-line.ts'

/** What is written of a value that `JSON.stringify` refuses. */
const cut = (value: unknown) => JSON.parse(safeJson({ n: 1n, value })).value
const nest = (depth: number) => Array.from({ length: depth }).reduce((inner) => ({ inner }), 'end' as unknown)
const no = () => {
  throw new Error('no')
}

describe('the JSON of anything', () => {
  it('is that of JSON.stringify up to the most characters, and cut down beyond', () => {
    const fits = 'x'.repeat(32_768 - 2)
    expect(safeJson(fits)).toBe(JSON.stringify(fits))
    expect(JSON.parse(safeJson(`${fits}x`))).toBe(`${'x'.repeat(1_024)}… 32767 characters in all`)
    expect(safeJson('xxxx', 6)).toBe('"xxxx"')
    expect(safeJson(['x'.repeat(2_000)], 5)).toBe(JSON.stringify([`${'x'.repeat(1_024)}… 2000 characters in all`]))
  })

  it.each<[string, unknown, unknown]>([
    ['a BigInt', 5n, '5n'],
    ['a long BigInt', 10n ** 1_023n, `1${'0'.repeat(1_023)}… 1025 characters in all`],
    ['a number', 1.5, 1.5],
    ['a truth', true, true],
    ['nothing', null, null],
    ['a text of 1,024 characters', 'x'.repeat(1_024), 'x'.repeat(1_024)],
    ['a longer text', 'x'.repeat(1_025), `${'x'.repeat(1_024)}… 1025 characters in all`],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['no date', new Date(Number.NaN), 'Invalid Date'],
    ['bytes', new Uint8Array(7), '[7 bytes]'],
    ['a map', new Map([[1, 2]]), '[1 entries]'],
    ['a set', new Set([1, 2]), '[2 entries]'],
    ['an error', new TypeError('broke'), { name: 'TypeError', message: 'broke' }],
    ['64 items', Array(64).fill(1), Array(64).fill(1)],
    ['65 items', Array(65).fill(1), [...Array(64).fill(1), '… 65 in all']],
    ['a getter that throws', Object.defineProperty({}, 'x', { enumerable: true, get: no }), { x: '[unreadable]' }],
    ['a proxy that throws', new Proxy({}, { getPrototypeOf: no, ownKeys: no, get: no }), '[unreadable]'],
  ])('has %s', (_name, value, expected) => {
    expect(cut(value)).toEqual(expected)
  })

  it('has no functions and symbols', () => {
    expect(JSON.parse(safeJson({ n: 1n, a: no, b: Symbol('b'), c: undefined }))).toEqual({ n: '1n' })
    expect(safeJson(undefined)).toBe('null')
    expect(safeJson(no)).toBe('null')
  })

  it('has 64 fields of an object and says how many there were', () => {
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]))
    expect(cut(fields(64))).toEqual(fields(64))
    expect(cut(fields(65))).toEqual({ ...fields(64), '…': 65 })
    expect(Object.keys(JSON.parse(safeJson({ n: 1n, ...fields(100) })))).toEqual(['n', ...Object.keys(fields(63))])
  })

  it('has eight levels below a field', () => {
    expect(cut(nest(8))).toEqual(nest(8))
    let inner = cut(nest(9))
    for (let level = 0; level < 8; level++) inner = inner.inner
    expect(inner).toBe('[deeper]')
  })

  it('names a cycle, and repeats what is only shared', () => {
    const cycle: Record<string, unknown> = { a: 1 }
    cycle.self = cycle
    expect(cut(cycle)).toEqual({ a: 1, self: '[cycle]' })
    const shared = { a: 1 }
    expect(cut([shared, shared])).toEqual([shared, shared])
  })

  it('gives every field 4,096 characters of its own', () => {
    // A text takes its length and two quotes, anything else 8.
    const text = 'x'.repeat(1_022)
    expect(cut([text, text, text, text, 'last'])).toEqual([text, text, text, text, '… 5 in all'])
    const shorter = text.slice(1)
    expect(cut([text, text, text, shorter, 'last'])).toEqual([text, text, text, shorter, 'last'])
    expect(cut([text, text, text, [shorter], 'a', {}])).toEqual([text, text, text, [shorter], 'a', '… 6 in all'])
    expect(cut({ a: text, b: text, c: text, d: text, e: 1 })).toEqual({ a: text, b: text, c: text, d: text, '…': 5 })
    expect(cut([text, text, text, 'x'.repeat(1_006), 1, 2, 3])).toHaveLength(7)
    const both = JSON.parse(safeJson({ n: 1n, a: Array(9).fill(text), b: text }))
    expect([both.a.length, both.b]).toEqual([5, text])
  })

  it('cuts long names of fields', () => {
    const name = 'k'.repeat(2_000)
    expect(Object.keys(cut({ [name]: 1 }))).toEqual([`${'k'.repeat(1_024)}… 2000 characters in all`])
    expect(Object.keys(JSON.parse(safeJson({ n: 1n, [name]: 1 })))).toEqual(['n', 'k'.repeat(1_024)])
  })
})
