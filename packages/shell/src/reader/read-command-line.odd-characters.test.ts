import { expect, it } from 'vitest'
import { findOddCharacters } from './read-command-line.ts'

it.each([
  ['ls -l\tä\n😀 "日本"', undefined],
  ['a\u0007', /show: \\u\{7\}$/],
  ['a\r', /show: \\r$/],
  ['a\u200bb', /show: \\u\{200b\}$/],
  ['a\u202eb', /show: \\u\{202e\}$/],
  ['a\u00a0b', /show: \\u\{a0\}$/],
  ['a\u2028b', /show: \\u\{2028\}$/],
  ['a\u3164b', /show: \\u\{3164\}$/],
  ['\u200b\u200b\u200c\u200d', /show: \\u\{200b\}, \\u\{200c\}, \\u\{200d\}$/],
  ['\u200b\u200c\u200d\u2060', /show: \\u\{200b\}, \\u\{200c\}, \\u\{200d\}$/],
])('of %j, what a person would not see is named, at most three', (text, says) => {
  const found = findOddCharacters(text)
  if (says === undefined) expect(found).toBeUndefined()
  else expect(found).toMatch(says)
})
