import type { Effect, WhereRange, WhereTest, WhereValue } from '@tool-hub/core'
import { isPlainObject, pointerKeys } from '@tool-hub/core/lib'
import { budgetOf, type CallArguments, type ControlValue } from './evidence/index.ts'
import type { BrokenPattern } from './match/index.ts'

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

type Answer = 'yes' | 'no' | 'unreadable' | 'if-approved'
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
  return {
    readsApprovals: Object.values(where).flat().includes('approved-before'),
    mismatch: (call) => (effect === 'allow' ? findMismatch(conditions, call) : findUnmet(conditions, call)),
  }
}

/** An allow: every value must be there and match, and one answer must cover all those that need an approval. */
function findMismatch(conditions: readonly Condition[], call: CallArguments): string | undefined {
  const toApprove: ControlValue[] = []
  const missed = conditions.find((condition) => !holdsForAll(condition, call, toApprove))
  if (missed) return missed.name
  return toApprove.length === 0 || call.evidence?.isApproved(toApprove) ? undefined : toApprove[0]!.argument
}

function findUnmet(conditions: readonly Condition[], call: CallArguments): string | undefined {
  return conditions.find((condition) => !holdsForAny(condition, call))?.name
}

interface Condition {
  readonly name: string
  readonly keys: readonly string[]
  readonly tests: readonly Test[]
}

/** Whether all values match by themselves, or would with an approval, which they are then added to. */
function holdsForAll({ keys, name, tests }: Condition, call: CallArguments, toApprove: ControlValue[]): boolean {
  const values = valuesAt(call.input, keys)
  if (values === 'unreadable' || values.length === 0) return false
  return values.every((value) => {
    if (value === undefined || !spendOnTests(call, tests)) return false
    let mayBeApproved = false
    for (const test of tests) {
      const answer = test(value, name, call)
      if (answer === 'yes') return true
      mayBeApproved ||= answer === 'if-approved'
    }
    if (mayBeApproved) toApprove.push({ argument: name, value })
    return mayBeApproved
  })
}

/** An ask or a deny: one value that matches is enough, and so is one that cannot be read. */
function holdsForAny({ keys, name, tests }: Condition, call: CallArguments): boolean {
  const values = valuesAt(call.input, keys)
  if (values === 'unreadable') return true
  return values.some(
    (value) =>
      value !== undefined && (!spendOnTests(call, tests) || tests.some((test) => test(value, name, call) !== 'no')),
  )
}

/** Takes what it costs to start these tests; the long texts among the values cost more. Returns `false` if that is too much. */
function spendOnTests(call: CallArguments, tests: readonly Test[]): boolean {
  return budgetOf(call).spend(tests.length / 10)
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
  const texts = list.filter(isPlainText)
  if (texts.length > 0) {
    const test = compileTexts(texts, broadly)
    if ('broken' in test) return test
    tests.push(test)
  }
  for (const item of list as readonly (WhereValue | WhereRange)[]) {
    if (isPlainText(item)) continue
    const test = compileTest(item, broadly)
    if ('broken' in test) return test
    tests.push(test)
  }
  return tests
}

function compileTest(written: WhereValue | WhereRange, broadly: boolean): Test | BrokenPattern {
  if (typeof written === 'object' && written !== null) return compileRange(written)
  if (written === 'from-user')
    return (value, _argument, call) => {
      const budget = budgetOf(call)
      if (call.evidence?.isFromUser(value, budget)) return 'yes'
      return budget.isSpent ? 'unreadable' : 'no'
    }
  if (written === 'approved-before') {
    if (!broadly) return () => 'if-approved'
    return (value, argument, { evidence }) => (evidence?.isApproved([{ argument, value }]) ? 'yes' : 'no')
  }
  if (typeof written === 'string') return compileTexts([written], broadly)
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

/** Whether an entry is neither a glob nor a kind of evidence. */
function isPlainText(written: WhereValue | WhereRange): written is string {
  return typeof written === 'string' && !/[*?]/.test(written) && !(EVIDENCE as readonly string[]).includes(written)
}

/** Compiles one glob, or any number of other texts, which are looked up together. */
function compileTexts(written: readonly string[], broadly: boolean): Test | BrokenPattern {
  if (written.some(({ length }) => length > MAX_GLOB_CHARS))
    return { broken: `a text has at most ${MAX_GLOB_CHARS} characters` }
  const wanted = new Set(broadly ? written.map(fold) : written)
  const [first] = wanted
  const matches = /[*?]/.test(written[0]!) ? compileGlob(first!, broadly) : undefined
  return (value, _argument, call) => {
    if (typeof value === 'object') return 'unreadable'
    const text = String(value)
    const cost = matches ? text.length * (1 + first!.length / 32) : text.length / 16
    if (text.length > MAX_VALUE_CHARS || !budgetOf(call).spend(cost)) return 'unreadable'
    const compared = broadly ? fold(text) : text
    // An allow of a text is not an allow of the number that is written so.
    if (!broadly && typeof value !== 'string') return 'no'
    if (wanted.has(compared)) return 'yes'
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
