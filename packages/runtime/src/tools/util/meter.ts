import { ToolError } from '@tool-hub/core'

/** About half a second of work; an ordinary call takes a few hundred steps. */
const MAX_STEPS = 5_000_000

/** Limits the work of an expression or template: it runs on the main thread and must not block other calls. */
export class Meter {
  readonly #subject: string
  readonly #hint: string
  #left = MAX_STEPS

  constructor(subject: string, hint: string) {
    this.#subject = subject
    this.#hint = hint
  }

  /**
   * Subtracts `steps` before the work is done. Throws if none are left; a negative number or NaN is a counting error
   * and throws too.
   */
  spend(steps: number): void {
    this.#left -= steps
    if (steps >= 0 && this.#left >= 0) return
    throw new ToolError('INPUT_SCHEMA_INVALID', `${this.#subject} needs more than ${MAX_STEPS} steps on this data.`, {
      hint: this.#hint,
    })
  }
}

/** The error for an invalid path: the problem, and the character (from 1) if known. */
export function invalidPath(problem: string, { index, cause }: { index?: number; cause?: unknown } = {}): ToolError {
  const place = index === undefined ? '' : ` at character ${index + 1}`
  return new ToolError('INPUT_SCHEMA_INVALID', `The path is not valid${place}: ${problem}`, {
    fix: { key: 'path', hint: 'A path that begins with $ is JSONPath (RFC 9535), any other is JMESPath.' },
    cause,
  })
}

/** Deep equality of JSON values, independent of the order of keys; metered. */
export function jsonEqual(left: unknown, right: unknown, meter: Meter): boolean {
  if (typeof left === 'string' && typeof right === 'string') return textEqual(left, right, meter)
  meter.spend(1)
  if (left === right) return true
  if (Array.isArray(left)) return Array.isArray(right) && arrayEqual(left, right, meter)
  if (isRecord(left) && isRecord(right)) return recordEqual(left, right, meter)
  return false
}

/** Cost of listing one value of an object: in a large one it is a walk through a hash table. */
export const VALUE_STEPS = 3

/** True for a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textEqual(left: string, right: string, meter: Meter): boolean {
  meter.spend(1)
  if (left.length !== right.length) return false
  meter.spend(left.length >> 6)
  return left === right
}

function arrayEqual(left: readonly unknown[], right: readonly unknown[], meter: Meter): boolean {
  return left.length === right.length && left.every((item, index) => jsonEqual(item, right[index], meter))
}

function recordEqual(left: Record<string, unknown>, right: Record<string, unknown>, meter: Meter): boolean {
  const keys = Object.keys(left)
  const others = Object.keys(right).length
  meter.spend(keys.length + others)
  if (keys.length !== others) return false
  return keys.every((key) => Object.hasOwn(right, key) && jsonEqual(left[key], right[key], meter))
}

/** Deeper than any input, shallow enough for every JSON parser. */
const MAX_DEPTH = 128

/**
 * The size of a value as JSON in bytes; counting stops above `most`. An expression can repeat one value so often that
 * its JSON would never end, so the JSON itself is not written here.
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
