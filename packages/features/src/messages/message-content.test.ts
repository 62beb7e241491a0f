import { describe, expect, it } from 'vitest'
import { checkWords } from './message-content.ts'

const limits = { maxChars: 10, maxTitleChars: 4 }
const SUCH = 'Remove such characters.'

describe('the words of a message', () => {
  it.each([
    ['a text', { text: 'hi' }],
    ['line breaks and tabs', { text: 'a\n\tb' }],
    ['as many characters as the channel takes', { text: 'x'.repeat(10) }],
    ['a title of the longest kind', { title: 'abcd', text: 'x' }],
    ['a title and a text that fill the channel with the line break between them', { title: 'abcd', text: '12345' }],
  ])('may be %s', (_, words) => {
    expect(checkWords(words, limits, 'ops')).toEqual(words)
  })

  it.each([
    ['only blanks', { text: ' \n' }, 'The message is empty.', 'Give a text.'],
    ['a control character', { text: 'a\u0007' }, 'The text has a control character.', SUCH],
    ['a carriage return', { text: 'a\r' }, 'The text has a control character.', SUCH],
    [
      'a line break in the title',
      { title: 'a\n', text: 'x' },
      'The title has a line break or a control character.',
      SUCH,
    ],
    ['half a character', { text: 'a\ud83d' }, 'The message has half a character.', SUCH],
    ['half a character in the title', { title: '\ud83d', text: 'x' }, 'The message has half a character.', SUCH],
  ])('may not be %s', (_, words, message, hint) => {
    expect(() => checkWords(words, limits, 'ops')).toThrow(
      expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message, fix: { hint } }),
    )
  })

  it.each([
    [
      'one character more than the channel takes',
      { text: 'x'.repeat(11) },
      'The message has 11 characters; the channel ops takes at most 10.',
    ],
    [
      'a title and a text that fit only without the line break between them',
      { title: 'abcd', text: '123456' },
      'The message has 11 characters; the channel ops takes at most 10.',
    ],
    [
      'a title that is one character too long',
      { title: 'abcde', text: 'x' },
      'The title has 5 characters; the channel ops takes at most 4.',
    ],
  ])('are refused, not cut: %s', (_, words, message) => {
    const hint = 'Shorten it, split it, or attach it as a file if the channel takes attachments.'
    expect(() => checkWords(words, limits, 'ops')).toThrow(
      expect.objectContaining({ code: 'FILE_TOO_LARGE', message, fix: { hint } }),
    )
  })

  it('have 100,000 characters and a title of 200 where the channel sets no limit', () => {
    expect(checkWords({ text: 'x'.repeat(100_000) }, {}, 'ops').text).toHaveLength(100_000)
    expect(() => checkWords({ text: 'x'.repeat(100_001) }, {}, 'ops')).toThrow('takes at most 100000')
    expect(checkWords({ title: 'x'.repeat(200), text: 'x' }, {}, 'ops').title).toHaveLength(200)
    expect(() => checkWords({ title: 'x'.repeat(201), text: 'x' }, {}, 'ops')).toThrow('takes at most 200')
  })
})
