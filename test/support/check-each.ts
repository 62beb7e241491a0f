import { inspect } from 'node:util'

/**
 * Checks every word and throws one error with all that fail, each with its reason: rows of a table that differ in nothing
 * but a word are one test.
 */
export function checkEach<T>(words: readonly T[], check: (word: T) => void): void {
  if (words.length === 0) throw new Error('There are no words to check.')
  const failed = words.flatMap((word) => {
    try {
      // An async function may be passed where nothing is to be returned, and its errors would be lost.
      const result: unknown = check(word)
      if (result instanceof Promise) throw new Error('A check of words is not asynchronous.')
      return []
    } catch (error) {
      return [`${inspect(word)}: ${error instanceof Error ? error.message : inspect(error)}`]
    }
  })
  if (failed.length > 0) throw new Error(`${failed.length} of ${words.length} fail:\n${failed.join('\n')}`)
}
