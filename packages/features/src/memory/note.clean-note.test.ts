import { describe, expect, it } from 'vitest'
import { cleanContent, cleanTags } from './note.ts'

const host = { redact: (text: string) => text.replaceAll('hunter2', '[redacted]') }
const content = (text: string) => cleanContent(text, { noteChars: 10 }, host)
const invalid = (message: string, hint: string) =>
  expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message, fix: { hint } })

describe('the text of a note', () => {
  it('is kept as it is, up to its limit', () => {
    expect(content('0123456789')).toEqual({ content: '0123456789', hidSecret: false })
    expect(content(' a\n')).toEqual({ content: ' a\n', hidSecret: false })
  })

  it('has no secrets and no halves of characters', () => {
    expect(content('hunter2')).toEqual({ content: '[redacted]', hidSecret: true })
    expect(content('a\0b\ud83dc👍')).toEqual({ content: 'a\ufffdb\ufffdc👍', hidSecret: false })
  })

  it('is refused when it is empty or too long', () => {
    expect(() => content(' \n')).toThrow(invalid('The note is empty.', 'Write what should be remembered.'))
    expect(() => content('01234567890')).toThrow(
      invalid(
        'The note has 11 characters, the limit is 10.',
        'Write a summary or several notes; put long texts into a file.',
      ),
    )
  })
})

describe('the tags of a note', () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`)

  it('have no blanks around them, no doubles and no secrets', () => {
    expect(cleanTags([' a ', 'a', '', ' ', 'b\0', 'hunter2'], host)).toEqual(['a', 'b\ufffd', '[redacted]'])
  })

  it('are at most 16, of at most 64 characters each', () => {
    expect(cleanTags(many(16), host)).toHaveLength(16)
    expect(cleanTags(['x'.repeat(64)], host)).toHaveLength(1)
    expect(() => cleanTags(many(17), host)).toThrow(invalid('A note has at most 16 tags, not 17.', 'Use fewer tags.'))
    expect(() => cleanTags(['a', 'x'.repeat(65)], host)).toThrow(
      invalid('A tag has at most 64 characters, not 65.', 'Use a shorter tag.'),
    )
  })
})
