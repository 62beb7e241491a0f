import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashJson, noteTextHash, sha256 } from './hash.ts'

describe('hashJson', () => {
  it('is the SHA-256 of the canonical JSON, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(hashJson(value)).toBe(sha256(canonicalize(value)!))
      }),
    )
  })

  it('hashes other values as the JSON that they are written as', () => {
    const at = new Date(0)
    expect(hashJson({ at, none: undefined, list: [undefined] })).toBe(hashJson({ list: [null], at: at.toJSON() }))
    expect(hashJson({ b: { toJSON: () => ({ d: 1, c: 2 }) } })).toBe(hashJson({ b: { c: 2, d: 1 } }))
    expect(hashJson([-0, Number.NaN])).toBe(hashJson([0, null]))
    expect(hashJson({ [Symbol('hidden')]: 1 })).toBe(hashJson({}))
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, index]))
    expect(hashJson(many)).toBe(sha256(canonicalize(many)!))
  })

  it('does not see the order of keys, but that of items', () => {
    expect(hashJson({ b: 1, a: { d: 1, c: [1, 2] } })).toBe(hashJson({ a: { c: [1, 2], d: 1 }, b: 1 }))
    expect(hashJson({ 9: 1, 10: 2 })).toBe(sha256('{"10":2,"9":1}'))
    expect(hashJson([1, 2])).not.toBe(hashJson([2, 1]))
  })
})

describe('sha256', () => {
  it('takes the word of who has hashed the same text as bytes, for that text only', () => {
    const text = 'grüße'.repeat(300)
    const hash = sha256(Buffer.from(text))
    noteTextHash(text, hash)
    expect(sha256(text)).toBe(hash)
    expect(sha256(`${text} `)).toBe(sha256(Buffer.from(`${text} `)))
    expect(sha256('')).toBe(sha256(Buffer.alloc(0)))
  })
})
