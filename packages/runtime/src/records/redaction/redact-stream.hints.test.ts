import fc from 'fast-check'
import { expect, it } from 'vitest'
import { redactAroundHints } from './redact-stream.ts'
import { redactShapes } from './secret-shapes.ts'

const WORD = 'aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD1234'
const parts = [
  `ghp_${WORD}`,
  `npm_${WORD}`,
  'Bearer ',
  'Basic dXNlcjpwYXNz',
  'x://u:p@h',
  '?token=abc',
  '/:_authToken=abc',
  'AKIAABCDEFGH23456789',
]
const others = [' ', '"', '<', '\n', 'plain', '-', '_', '/', '=', 'ghp_', '?key=', 'sk-', '-----BEGIN ']

it('hides what is hidden in a text as a whole', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts, ...others, ...others), { maxLength: 30 }), (pieces) => {
      expect(redactAroundHints(pieces.join(''))).toBe(redactShapes(pieces.join('')))
    }),
    { numRuns: 500 },
  )
})

it.each([1, 63, 64, 65, 200])('hides each of %d secrets', (count) => {
  const text = Array.from({ length: count }, (_, index) => `line ${index} ghp_${WORD}, "`).join('')
  expect(redactAroundHints(text)).toBe(redactShapes(text))
  expect(redactAroundHints(text).split('[redacted:github-token]')).toHaveLength(count + 1)
})

it('takes the byte A0 for part of a letter', () => {
  expect(redactAroundHints(`x://u:p\xa0q@h \xa0`)).toBe('x://[redacted:url-credentials]@h \xa0')
  expect(redactAroundHints('nothing \xa0')).toBe('nothing \xa0')
})
