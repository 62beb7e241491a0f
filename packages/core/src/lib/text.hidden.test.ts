import { describe, expect, it } from 'vitest'
import { holdsHidden, withoutHidden } from './text.ts'

const HIDDEN = [
  ...['\u{200b}', '\u{202e}', '\u{2066}', '\u{e0041}', '\u{ad}', '\u{1b}', '\u{0}', '\u{e0101}', '\u{3164}'],
  ...['\u{2029}', '\u{600}'],
  ...['\u{e0080}', '\u{e01f0}', '\u{2065}', '\u{180b}', '\u{180f}', '\u{fff0}', '\u{fe0f}', '\u{2800}', '\u{2028}'],
]

describe('hidden text', () => {
  it('is found and taken out', () => {
    for (const hidden of HIDDEN) {
      const text = `Adds${hidden} numbers.`
      expect(holdsHidden(text)).toBe(true)
      expect(withoutHidden(text)).toBe('Adds numbers.')
    }
  })

  it('is not what people write', () => {
    for (const text of ['Línea\tdos\r\ntres', '日本語', 'שלום', 'می‌خواهم', '👩‍💻 and 👩🏽‍💻 and ❤️‍🔥', 'é']) {
      expect(holdsHidden(text)).toBe(false)
      expect(withoutHidden(text)).toBe(text)
    }
  })

  it('finds a joiner that joins no emoji', () => {
    expect(withoutHidden('a\u{200d}b')).toBe('ab')
    expect(withoutHidden('👩\u{200d}x')).toBe('👩x')
  })
})
