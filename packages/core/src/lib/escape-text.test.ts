import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../test/support/check-each.ts'
import { escapeJson, escapeLine, escapeText, revealJson, revealLine, revealParts, revealText } from './escape-text.ts'

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
    ['con\u{fe0f}fig.yaml', 'con\\u{fe0f}fig.yaml'],
    ['con\u{fe00}fig', 'con\\u{fe00}fig'],
    ['1\u{fe0f}', '1\\u{fe0f}'],
    ['☕\u{fe0f}', '☕\\u{fe0f}'],
    ['❤\u{fe0f}\u{fe0f}', '❤\u{fe0f}\\u{fe0f}'],
    ['❤\u{fe0e}', '❤\\u{fe0e}'],
    ['\u{fe0f}', '\\u{fe0f}'],
    ['a\u{e0100}', 'a\\u{e0100}'],
    ['soft\u00adhyphen', 'soft\\u{ad}hyphen'],
    ['\u3164\uffa0\u115f\u1160\u17b4\u17b5\u034f', '\\u{3164}\\u{ffa0}\\u{115f}\\u{1160}\\u{17b4}\\u{17b5}\\u{34f}'],
    ['\ue000\uffff', '\\u{e000}\\u{ffff}'],
  ])('escapes %j', (text, escaped) => {
    expect(escapeText(text)).toBe(escaped)
  })

  it('leaves words of any language, tabs and line breaks alone', () => {
    const text = 'Straße\t日本語 😀 ❤️ ☺️ é e\u0301 हिन्दी\nשלום'
    expect(escapeText(text)).toBe(text)
    expect(revealText(text)).toBe(text)
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

describe('text that a person decides on', () => {
  const BLANKS = [0xa0, 0x1680, 0x2000, 0x2001, 0x2009, 0x200a, 0x202f, 0x205f, 0x3000, 0x2800, 0xfffc, 0x1d159]

  it('shows blanks by their codes', () => {
    checkEach(BLANKS, (code) => {
      const text = `rm${String.fromCodePoint(code)}-rf`
      const shown = `rm\\u{${code.toString(16)}}-rf`
      expect(revealText(text)).toBe(shown)
      expect(revealLine(text)).toBe(shown)
      expect(revealParts(text)).toEqual([
        { text: 'rm', isEscaped: false },
        { text: `\\u{${code.toString(16)}}`, isEscaped: true },
        { text: '-rf', isEscaped: false },
      ])
    })
  })

  it('shows whatever is hidden in a terminal, too', () => {
    expect(revealText('a\u202eb\u200b\u{fe0f}')).toBe('a\\u{202e}b\\u{200b}\\u{fe0f}')
    expect(revealLine('a\nb\tc d')).toBe('a\\nb\\tc d')
    expect(revealParts('❤️ a\u200b\u200b')).toEqual([
      { text: '❤️ a', isEscaped: false },
      { text: '\\u{200b}\\u{200b}', isEscaped: true },
    ])
    expect(revealParts('')).toEqual([])
  })

  it('leaves JSON the same JSON', () => {
    const value = { 'a\u00a0b': '\u{1d159} \u2800\u3000' }
    const shown = revealJson(JSON.stringify(value))
    expect(shown).toBe('{"a\\u00a0b":"\\ud834\\udd59 \\u2800\\u3000"}')
    expect(JSON.parse(shown)).toEqual(value)
  })
})
