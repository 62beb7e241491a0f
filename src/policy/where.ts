import type { Effect, WhereRange, WhereTest, WhereValue } from '../core/index.ts'
import { isPlainObject, pointerKeys } from '../lib/index.ts'
import type { BrokenPattern } from './target.ts'

/** What is known about where the values of a call come from. */
export interface ValueEvidence {
  /** Whether the user's words are known at all. */
  readonly hasUserText: boolean
  /** Whether the value occurs in the user's own words. */
  readonly isFromUser: (value: unknown) => boolean
  /** Whether a person has approved this value for this tool and argument. */
  readonly isApproved: (tool: string, argument: string, value: unknown) => boolean
}

/** The arguments of a call, and what is known about their values. */
export interface CallArguments {
  readonly tool: string
  readonly input: unknown
  /** The schema of its arguments: keys that it does not name are values, too. */
  readonly schema?: { jsonSchema(): unknown }
  /** The arguments that the tool says are texts for people; absent: those that are called so. */
  readonly texts?: readonly string[] | undefined
  readonly evidence?: ValueEvidence
}

/** The conditions of a rule on arguments. */
export interface CompiledWhere {
  /** Returns the argument that keeps the rule from applying, or `undefined` if all match. */
  readonly mismatch: (call: CallArguments) => string | undefined
  /** Whether it looks for values that were approved before. */
  readonly readsApprovals: boolean
}

/** Evidence instead of a value. */
export const EVIDENCE = ['from-user', 'approved-before'] as const

/** A longer value cannot be compared: an allow does not match it, what restricts does. */
const MAX_VALUE_CHARS = 16_384
const MAX_GLOB_CHARS = 512
const MAX_TESTS = 1_000
/** How many elements of lists are compared. */
const MAX_ELEMENTS = 10_000
/**
 * What separates values in a text, or parts of an address: `*` of an allow stops there, so that one text cannot carry two
 * recipients, and nobody else's host can stand before the part that the rule names.
 */
const SEPARATORS = /[\s,;<>"'`|@/\\#?&%\p{C}]/u
/** A step to the folder above: a glob that allows what is below a folder does not allow to leave it. */
const STEP_UP = /(?:^|[\\/])(?:\.|%2e){2}(?:$|[\\/?#]|%2f|%5c)/i

type Answer = 'yes' | 'no' | 'unreadable'
type Test = (value: unknown, argument: string, call: CallArguments) => Answer

/** Compiles `where` of a rule. What restricts is read broadly: in doubt it matches. */
export function compileWhere(
  where: Readonly<Record<string, WhereTest>>,
  effect: Effect,
): CompiledWhere | BrokenPattern {
  const entries = Object.entries(where)
  if (entries.length === 0) return { broken: 'where names no argument' }
  const conditions: Condition[] = []
  for (const [name, written] of entries) {
    const tests = compileTests(written, effect !== 'allow')
    if ('broken' in tests) return { broken: `where.${name}: ${tests.broken}` }
    const keys = name.startsWith('/') ? pointerKeys(name) : [name]
    if (name === '' || name === '/') return { broken: 'an argument needs a name or a JSON pointer' }
    conditions.push({ name, keys, tests })
  }
  const holds = effect === 'allow' ? holdsForAll : holdsForAny
  return {
    readsApprovals: Object.values(where).flat().includes('approved-before'),
    mismatch: (call) => conditions.find((condition) => !holds(condition, call))?.name,
  }
}

interface Condition {
  readonly name: string
  readonly keys: readonly string[]
  readonly tests: readonly Test[]
}

/** An allow: every value must be there and match. */
function holdsForAll({ keys, name, tests }: Condition, call: CallArguments): boolean {
  const values = valuesAt(call.input, keys)
  if (values === 'unreadable' || values.length === 0) return false
  return values.every((value) => value !== undefined && tests.some((test) => test(value, name, call) === 'yes'))
}

/** An ask or a deny: one value that matches is enough, and so is one that cannot be read. */
function holdsForAny({ keys, name, tests }: Condition, call: CallArguments): boolean {
  const values = valuesAt(call.input, keys)
  if (values === 'unreadable') return true
  return values.some((value) => value !== undefined && tests.some((test) => test(value, name, call) !== 'no'))
}

/**
 * Returns the values at a path: of a list, all its elements, at every level, with `undefined` for each that has none.
 * `unreadable` if the path leads into something that is not an object, or to too many values.
 */
function valuesAt(input: unknown, keys: readonly string[]): readonly unknown[] | 'unreadable' {
  let values: readonly unknown[] = [input]
  for (const key of keys) {
    if (values.some((value) => value !== undefined && value !== null && !isPlainObject(value))) return 'unreadable'
    const next = (values as readonly (Record<string, unknown> | null | undefined)[]).map((value) =>
      value && Object.hasOwn(value, key) ? value[key] : undefined,
    )
    values = next.some(Array.isArray) ? next.flat(Number.POSITIVE_INFINITY) : next
    if (values.length > MAX_ELEMENTS) return 'unreadable'
  }
  return values
}

function compileTests(written: WhereTest, broadly: boolean): readonly Test[] | BrokenPattern {
  const list = Array.isArray(written) ? written : [written]
  if (list.length === 0 || list.length > MAX_TESTS) return { broken: `needs 1 to ${MAX_TESTS} values` }
  const tests: Test[] = []
  for (const item of list as readonly (WhereValue | WhereRange)[]) {
    const test = compileTest(item, broadly)
    if ('broken' in test) return test
    tests.push(test)
  }
  return tests
}

function compileTest(written: WhereValue | WhereRange, broadly: boolean): Test | BrokenPattern {
  if (typeof written === 'object' && written !== null) return compileRange(written)
  if (written === 'from-user') return (value, _argument, { evidence }) => (evidence?.isFromUser(value) ? 'yes' : 'no')
  if (written === 'approved-before')
    return (value, argument, { tool, evidence }) => (evidence?.isApproved(tool, argument, value) ? 'yes' : 'no')
  if (typeof written === 'string') return compileText(written, broadly)
  if (typeof written === 'number' && !Number.isFinite(written)) return { broken: 'a number must be finite' }
  return (value) => {
    if (value === written) return 'yes'
    if (typeof value === 'object') return 'unreadable'
    if (!broadly) return 'no'
    // The tool may read a number or a truth value from a text, in any spelling.
    const text = fold(String(value))
    return text === String(written) || (typeof written === 'number' && Number(text) === written) ? 'yes' : 'no'
  }
}

function compileRange(range: WhereRange): Test | BrokenPattern {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = range
  const known = Object.keys(range).every((key) => key === 'min' || key === 'max')
  if (!known || (range.min === undefined && range.max === undefined))
    return { broken: 'write a value, a glob, a list, or { min, max }' }
  if (typeof min !== 'number' || typeof max !== 'number' || Number.isNaN(min) || Number.isNaN(max))
    return { broken: 'min and max must be numbers' }
  if (min > max) return { broken: `min ${min} is over max ${max}, so this rule can never match` }
  return (value) => {
    if (Number.isFinite(value)) return (value as number) >= min && (value as number) <= max ? 'yes' : 'no'
    // The tool may read a number from a text, but how is unknown.
    return 'unreadable'
  }
}

function compileText(written: string, broadly: boolean): Test | BrokenPattern {
  if (written.length > MAX_GLOB_CHARS) return { broken: `a text has at most ${MAX_GLOB_CHARS} characters` }
  const isGlob = /[*?]/.test(written)
  const matches = isGlob ? compileGlob(broadly ? fold(written) : written, broadly) : undefined
  const wanted = broadly ? fold(written) : written
  return (value) => {
    if (typeof value === 'object') return 'unreadable'
    const text = String(value)
    if (text.length > MAX_VALUE_CHARS) return 'unreadable'
    const compared = broadly ? fold(text) : text
    // An allow of a text is not an allow of the number that is written so.
    if (!broadly && typeof value !== 'string') return 'no'
    if (compared === wanted) return 'yes'
    return matches?.(compared) && (broadly || !STEP_UP.test(text)) ? 'yes' : 'no'
  }
}

/** One spelling for texts that people and tools take for the same. Characters that nobody sees do not count. */
function fold(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
}

type Step = { readonly literal: string } | { readonly any: 'one' | 'word' | 'all' }

/**
 * Compiles a glob: `?` is one character, `*` any characters of one word, `**` any at all. A glob that restricts does not
 * stop at the end of a word. The time is bounded by both lengths, whatever the glob.
 */
function compileGlob(glob: string, broadly: boolean): (text: string) => boolean {
  const steps: Step[] = []
  for (const part of glob.match(/\*+|\?|[^*?]/gu) ?? []) {
    if (part === '?') steps.push({ any: 'one' })
    else if (!part.startsWith('*')) steps.push({ literal: part })
    else steps.push({ any: broadly || part.length > 1 ? 'all' : 'word' })
  }
  return (text) => followSteps(steps, text)
}

const ASCII_SEPARATORS: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  SEPARATORS.test(String.fromCharCode(code)),
)

/** Programs read some characters as the ones that they look like. */
function isOtherSeparator(character: string): boolean {
  return SEPARATORS.test(character.normalize('NFKC'))
}

/** Follows all ways through the steps together: a place is marked if the text so far leads there. */
function followSteps(steps: readonly Step[], text: string): boolean {
  let here = new Uint8Array(steps.length + 1)
  let next = new Uint8Array(steps.length + 1)
  reach(steps, here, 0)
  for (const character of text) {
    const isSeparator = ASCII_SEPARATORS[character.charCodeAt(0)] ?? isOtherSeparator(character)
    next.fill(0)
    for (let at = 0; at < steps.length; at++) {
      if (here[at] === 0) continue
      const step = steps[at]!
      if ('literal' in step) {
        if (step.literal === character) reach(steps, next, at + 1)
      } else if (step.any === 'one') reach(steps, next, at + 1)
      else if (step.any === 'all' || !isSeparator) reach(steps, next, at)
    }
    ;[here, next] = [next, here]
  }
  return here[steps.length] === 1
}

/** Marks a place and those that are reached from it without a character: behind a `*`. */
function reach(steps: readonly Step[], places: Uint8Array, from: number): void {
  for (let at = from; places[at] === 0; at++) {
    places[at] = 1
    const step = steps[at]
    if (step === undefined || 'literal' in step || step.any === 'one') return
  }
}
