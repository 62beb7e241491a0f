import { describe, expect, it } from 'vitest'
import { outlineJson, sha256 } from './hash.ts'

describe('outlineJson', () => {
  it('is the JSON itself as long as no text is long', () => {
    const data = { a: [1, 'ü', { b: null }], c: 'x'.repeat(999) }
    const json = JSON.stringify(data)
    expect(outlineJson(data)).toEqual({ json, bytes: Buffer.byteLength(json), isWhole: true })
  })

  it('puts the hash of a long text in its place, anywhere, and counts its bytes', () => {
    const text = 'ü'.repeat(5_000)
    const data = { path: 'a', parts: [{ text }], text }
    const { json, bytes, isWhole } = outlineJson(data)
    const hash = `sha256:${sha256(text)}`
    expect(JSON.parse(json)).toEqual({ path: 'a', parts: [{ text: hash }], text: hash })
    expect(bytes).toBe(Buffer.byteLength(JSON.stringify(data)))
    expect([data.text, isWhole]).toEqual([text, false])
  })

  it('tells any two results apart that differ in a long text', () => {
    const [one, two] = ['a', 'b'].map((end) => outlineJson(`${'x'.repeat(2_000)}${end}`).json)
    expect(one).not.toBe(two)
  })
})
