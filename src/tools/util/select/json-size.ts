import { invalidPath } from './invalid-path.ts'

/** Deeper than what comes in, shallow enough for every JSON reader. */
const MAX_DEPTH = 128

/**
 * How many bytes a value takes as JSON; counting stops once it is over `most`. An expression can repeat one value so
 * often that its JSON would never end, so the JSON itself is not written here.
 */
export function jsonSize(value: unknown, most: number): number {
  let bytes = 0
  const count = (part: unknown, depth: number): void => {
    if (bytes > most) return
    if (depth > MAX_DEPTH) throw invalidPath(`it builds a value nested deeper than ${MAX_DEPTH} levels.`)
    if (typeof part === 'string') bytes += textSize(part)
    else if (Array.isArray(part)) {
      bytes += part.length === 0 ? 2 : part.length + 1
      for (let index = 0; index < part.length && bytes <= most; index++) count(part[index], depth + 1)
    } else if (typeof part === 'object' && part !== null) {
      const keys = Object.keys(part)
      bytes += keys.length === 0 ? 2 : 2 * keys.length + 1
      for (let index = 0; index < keys.length && bytes <= most; index++) {
        bytes += textSize(keys[index]!)
        count((part as Record<string, unknown>)[keys[index]!], depth + 1)
      }
    } else if (typeof part === 'function') throw invalidPath('an &expression is not a value; give it to a function.')
    else bytes += String(part).length
  }
  count(value, 0)
  return bytes
}

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

function textSize(text: string): number {
  return PLAIN.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text))
}
