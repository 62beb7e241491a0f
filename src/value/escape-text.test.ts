import { describe, expect, it } from 'vitest'
import { escapeJson, escapeLine, escapeText } from './escape-text.ts'

describe('text for a terminal', () => {
  it.each([
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u009b31m', '\\u{9b}31m'],
    ['a\rb', 'a\\rb'],
    ['\u202eevil', '\\u{202e}evil'],
    ['zero\u200bwidth', 'zero\\u{200b}width'],
    ['\u{e0041}tag', '\\u{e0041}tag'],
    ['\ud800 alone', '\\u{d800} alone'],
    ['\u2028', '\\u{2028}'],
    ['\u0000', '\\u{0}'],
  ])('escapes %j', (text, escaped) => {
    expect(escapeText(text)).toBe(escaped)
  })

  it('leaves words of any language, tabs and line breaks alone', () => {
    const text = 'Straße\t日本語 😀\nשלום'
    expect(escapeText(text)).toBe(text)
  })

  it('keeps one line one line', () => {
    expect(escapeLine('a\nb\tc')).toBe('a\\nb\\tc')
  })

  it('leaves JSON the same JSON', () => {
    const value = { text: 'a\u202e\u009b\u{e0041}\u007f\n😀' }
    const escaped = escapeJson(JSON.stringify(value, undefined, 2))
    expect(escaped).not.toMatch(/[\u202e\u009b\u007f]/)
    expect(JSON.parse(escaped)).toEqual(value)
  })
})
