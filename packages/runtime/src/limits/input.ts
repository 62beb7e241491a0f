import { ToolError } from '@tool-hub/core'
import { isPlainObject, quotePointer } from '@tool-hub/core/lib'

/** The bounds of a call's arguments. */
interface InputLimits {
  readonly maxDepth: number
  /** Of the arguments as JSON, estimated from below: what fits is never refused. */
  readonly maxBytes: number
  /** Keys of objects and elements of arrays, all together. Default: any number. */
  readonly maxEntries?: number
}

/** Arguments that are within their bounds. */
export interface BoundInput {
  readonly value: unknown
  /** Of their JSON, estimated from below. */
  readonly bytes: number
}

/** Found in the walk; on the way back up every level adds where it was, so that a good input pays nothing for it. */
interface Problem {
  what: string
  hint: string
  readonly value: unknown
  readonly path: string[]
}

interface Walk {
  readonly maxDepth: number
  bytesLeft: number
  entriesLeft: number
}

/** The types of `lib.es2023` do not know it yet, every supported Node does. */
type Text = string & { isWellFormed(): boolean }

/** Where the walk puts what it has read. */
type Copy = Record<string | number, unknown>

/** Of the message around the arguments: its own fields are not counted as theirs. */
const ENVELOPE_ENTRIES = 1_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c

const MAX_DEPTH = 1_000
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const TOO_LARGE = 'is over the size limit'
const TOO_MANY = 'has too many entries'
const SIZE_HINT = 'Send less, in parts, or have the owner raise limits.input.'
const PLAIN_HINT = 'Pass plain JSON data: objects, arrays, texts, numbers, booleans, null.'

/**
 * Copies arguments that are bounded, plain JSON, and refuses all others, before anything else looks at them. Calls no
 * code of theirs, reads everything once: what is judged later is what was read, whatever their owner changes meanwhile.
 */
export function boundInput(value: unknown, limits: InputLimits): unknown {
  return takeInput(value, limits).value
}

/** The same, and how large they are. */
export function takeInput(value: unknown, limits: InputLimits): BoundInput {
  const holder: Copy = {}
  const { maxBytes, maxEntries = Number.POSITIVE_INFINITY } = limits
  const walk = { maxDepth: Math.min(limits.maxDepth, MAX_DEPTH), bytesLeft: maxBytes, entriesLeft: maxEntries }
  let problem: Problem | undefined
  try {
    problem = inspect(value, walk, 0, holder, 'value')
  } catch (error) {
    // Only a proxy can throw here, and what cannot be read is not let in.
    problem = newProblem(error, 'cannot be read', 'Pass plain JSON data, not a proxy.')
  }
  if (!problem) return { value: holder.value, bytes: maxBytes - walk.bytesLeft }
  if (problem.what === TOO_MANY) throw tooManyEntries(maxEntries)
  const where = problem.path.length === 0 ? 'The input' : `The input at ${quotePointer(problem.path)}`
  const bounds = problem.what === TOO_LARGE ? ` of ${maxBytes} bytes` : ''
  throw new ToolError('INPUT_SCHEMA_INVALID', `${where} ${problem.what}${bounds}.`, { hint: problem.hint })
}

/** Copies a value into its holder, and returns the first problem with it. */
function inspect(value: unknown, walk: Walk, depth: number, holder: Copy, key: string | number): Problem | undefined {
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    holder[key] = copy
    // An array takes indexes like a record.
    return inspectArray(value, walk, depth + 1, copy as unknown[] & Copy)
  }
  if (typeof value === 'object' && value !== null) {
    const copy: Copy = {}
    holder[key] = copy
    return inspectObject(value, walk, depth + 1, copy)
  }
  holder[key] = value
  switch (typeof value) {
    case 'string':
      return inspectText(value, walk)
    case 'number':
      return Number.isFinite(value) ? spend(walk, 1) : newProblem(value, `is ${value}`, 'Use a finite number, or null.')
    case 'boolean':
    case 'object': // null
      return spend(walk, 4)
    case 'undefined':
      return undefined
    default:
      return newProblem(value, `is a ${typeof value}`, 'Pass only what JSON can hold: a large number as text.')
  }
}

function inspectText(text: string, walk: Walk): Problem | undefined {
  const tooLarge = spend(walk, text.length + 2)
  if (tooLarge) return tooLarge
  if (!(text as Text).isWellFormed())
    return newProblem(text, 'has half of a surrogate pair', 'Send well-formed Unicode.')
  if (text.includes('\0')) return newProblem(text, 'has a NUL character', 'Remove U+0000 from the text.')
  return undefined
}

function inspectObject(object: object, walk: Walk, depth: number, copy: Copy): Problem | undefined {
  if (depth > walk.maxDepth) return tooDeep(object, walk)
  if (!isPlainObject(object)) return newProblem(object, 'is not a plain object', PLAIN_HINT)
  // Hidden names too, but no symbols: looking for those would double the cost, and JSON, schemas and hashes pass them by.
  const keys = Object.getOwnPropertyNames(object)
  const tooLarge = spend(walk, Math.max(2, 1 + keys.length * 2), keys.length)
  if (tooLarge) return tooLarge
  for (const key of keys) {
    let problem = FORBIDDEN_KEYS.has(key) ? forbidden(key) : inspectText(key, walk)
    if (!problem) {
      const property = Object.getOwnPropertyDescriptor(object, key)
      const isPlain = property && !property.get && !property.set
      problem = isPlain
        ? inspect(property.value, walk, depth, copy, key)
        : newProblem(key, 'is an accessor', PLAIN_HINT)
    }
    if (problem) return locate(problem, object, key)
  }
  return undefined
}

function forbidden(key: string): Problem {
  return newProblem(key, 'has a forbidden name', `Rename the key ${key}.`)
}

function inspectArray(array: readonly unknown[], walk: Walk, depth: number, copy: Copy): Problem | undefined {
  if (depth > walk.maxDepth) return tooDeep(array, walk)
  if (Object.getPrototypeOf(array) !== Array.prototype) return newProblem(array, 'is not a plain array', PLAIN_HINT)
  const tooLarge = spend(walk, Math.max(2, 1 + array.length), array.length)
  if (tooLarge) return tooLarge
  for (let index = 0; index < array.length; index++) {
    const problem = inspectElement(array, index, walk, depth, copy)
    if (problem) return locate(problem, array, String(index))
  }
  return undefined
}

function inspectElement(
  array: readonly unknown[],
  index: number,
  walk: Walk,
  depth: number,
  copy: Copy,
): Problem | undefined {
  const element = Object.getOwnPropertyDescriptor(array, index)
  if (element?.get || element?.set) return newProblem(element, 'is an accessor', PLAIN_HINT)
  if (element?.value === undefined) return newProblem(element, 'is a hole in an array', 'Use null for no value.')
  return inspect(element.value, walk, depth, copy, index)
}

function spend(walk: Walk, bytes: number, entries = 0): Problem | undefined {
  walk.bytesLeft -= bytes
  walk.entriesLeft -= entries
  if (walk.entriesLeft < 0) return newProblem(undefined, TOO_MANY, SIZE_HINT)
  return walk.bytesLeft < 0 ? newProblem(undefined, TOO_LARGE, SIZE_HINT) : undefined
}

/** The refusal of arguments with too many keys and elements. */
function tooManyEntries(most: number): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `The input has over ${most} keys and elements, all together.`, {
    hint: 'Send less, in parts, or as one text; or have the owner raise limits.entries.',
  })
}

function tooDeep(value: object, walk: Walk): Problem {
  const what = `is nested deeper than ${walk.maxDepth} levels`
  return newProblem(value, what, 'Flatten the data, or have the owner raise limits.depth.')
}

function newProblem(value: unknown, what: string, hint: string): Problem {
  return { what, hint, value, path: [] }
}

/** Says where. A value too deep that is its own ancestor is a cycle: its highest place is the one to name. */
function locate(problem: Problem, parent: object, key: string): Problem {
  problem.path.unshift(key)
  if (problem.value !== parent) return problem
  problem.what = 'contains itself'
  problem.hint = 'Pass a tree: nothing may hold itself.'
  problem.path.length = 0
  return problem
}

/**
 * Throws for a JSON text that has more keys and elements than the arguments of a call may have, before it is parsed:
 * parsing 300,000 keys blocks the event loop for 0.3 s, and this scan ends at the first entry that is too many.
 */
export function checkJsonEntries(text: string, maxEntries: number): void {
  const max = maxEntries + ENVELOPE_ENTRIES
  // An entry takes two characters at least, so the text of an ordinary call is not scanned at all.
  if (text.length <= 2 * max) return
  if (hasMoreEntries(text, max)) throw tooManyEntries(maxEntries)
}

/** Every comma is followed by an entry, and so is the beginning of everything that is not empty. */
function hasMoreEntries(text: string, max: number): boolean {
  let entries = 0
  let isFirst = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= 0x20) continue
    const isEnd = code === 0x5d || code === 0x7d
    if (code === COMMA || (isFirst && !isEnd)) {
      entries++
      if (entries > max) return true
    }
    isFirst = code === 0x5b || code === 0x7b
    if (code === QUOTE) at = endOfString(text, at)
  }
  return false
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) break
    if (code === BACKSLASH) at++
  }
  return at
}
