import { expect, it } from 'vitest'
import { checkEach } from './support/check-each.ts'

it('names every word that fails, with its reason', () => {
  const isShort = (word: string) => expect(word.length).toBeLessThan(3)
  checkEach(['a', 'bb'], isShort)
  expect(() => checkEach(['a', 'long', 'bb', 'longer'], isShort)).toThrow(
    /^2 of 4 fail:\n'long': expected 4 .*\n'longer': expected 6 /,
  )
})

it('fails without words, and for a check that nobody waits for', () => {
  expect(() => checkEach([], () => {})).toThrow('no words')
  expect(() => checkEach(['a'], async () => {})).toThrow('not asynchronous')
})
