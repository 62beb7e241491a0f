import { expect, it } from 'vitest'
import { LONE_SURROGATE } from './text.ts'

it.each(['\ud83d', '\ude00', 'a\ud83db', '\ude00\ud83d', '\ud83d\ud83d\ude00'])(
  'finds half a character in %j',
  (text) => {
    expect(LONE_SURROGATE.test(text)).toBe(true)
  },
)

it.each(['', 'a', 'é', '\u{1f600}', '\ufffd'])('finds none in %j', (text) => {
  expect(LONE_SURROGATE.test(text)).toBe(false)
})
