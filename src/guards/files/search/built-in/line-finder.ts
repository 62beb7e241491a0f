import { RE2JS } from 're2js'
import type { SearchJob } from '../search-job.ts'
import { spellUnicodeClasses } from './unicode-classes.ts'

/** Finds a pattern in texts, in time that grows with the text only. */
export interface Finder {
  /** Where it first matches in a line; -1 when it does not. */
  inLine(line: string): number
  /** Every match in a whole text: where it begins and ends. */
  inText(text: string): Iterable<{ start: number; end: number }>
  /** False when no line of the text can match: saves looking at each. */
  mayBeIn(text: string): boolean
}

/** Compiles a pattern; throws when it cannot be used. */
export function createFinder({ pattern, isRegex, ignoreCase }: SearchJob): Finder {
  const source = isRegex ? spellUnicodeClasses(pattern) : RE2JS.quote(pattern)
  const expression = RE2JS.compile(source, RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0))
  const isPlain = !isRegex && !ignoreCase
  return {
    inLine(line) {
      if (isPlain) return line.indexOf(pattern)
      if (!expression.test(line)) return -1
      const matcher = expression.matcher(line)
      return matcher.find() ? matcher.start() : 0
    },
    *inText(text) {
      const matcher = expression.matcher(text)
      while (matcher.find()) yield { start: matcher.start(), end: matcher.end() }
    },
    mayBeIn: (text) => !isPlain || text.includes(pattern),
  }
}
