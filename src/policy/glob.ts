import picomatch from 'picomatch'
import { CHECK, type ExpressionStep, MATCH, readExpression } from './read-expression.ts'
import type { BrokenPattern } from './target.ts'

/** How many symbols are common: the ASCII characters where nothing is special, and the end of the text. */
const SYMBOLS = 129

/** How many bits a symbol has. */
const SYMBOL_BITS = 22

const ASCII = 128

const END_OF_TEXT = 128

const DOT = 46

const SLASH = 47

/** The checks of a rare symbol stand above its 16 bits of character. */
const CHECKS_SHIFT = 16

/** What holds at every character but a slash, unless it has to do with a `.` or `..` between slashes. */
const ORDINARY = CHECK.MORE | CHECK.NO_DOTS | CHECK.NO_DOT | CHECK.NO_DOT_PART

const AT_SLASH = ORDINARY & ~CHECK.NO_DOT

const AT_END = CHECK.END | CHECK.NO_DOTS | CHECK.NO_DOT_PART

/** States are numbers, the first of them the same in every matcher; 0 in the table is a state not yet looked for. */
const FAILED = 1

const ACCEPTED = 2

const BEGIN = 3

/** Room for ordinary texts, some 20 kB; hostile ones make the matcher forget, so they cost it time but no memory. */
const MAX_STATES = 120

const MAX_RARE = 500

/** Says whether a whole text matches. */
export interface Matcher {
  test(text: string): boolean
}

const MAX_GLOB_LENGTH = 16_384

const OPTIONS = {
  dot: true,
  noextglob: true,
  nonegate: true,
  strictBrackets: true,
  windows: false,
} as const

/** A glob of `*`, `**`, `?`, `[a-z]`, `[!a]`, `{a,b}` and `\`; all else is literal. Matching takes linear time. */
export function compilePolicyGlob(glob: string): Matcher | BrokenPattern {
  if (glob.length > MAX_GLOB_LENGTH)
    return { broken: `it has ${glob.length} characters, the limit is ${MAX_GLOB_LENGTH}` }
  try {
    return new LinearMatcher(`^(?:${globSource(glob)})$`)
  } catch (error) {
    return { broken: error instanceof Error ? error.message : 'it is not a glob' }
  }
}

/** The regular expression that a glob means, for the flag `s`: a line break in a name must not hide it from `**`. */
function globSource(glob: string): string {
  // The third argument asks for the source, which the types leave out. A RegExp of it could backtrack for ages.
  const source: unknown = picomatch.makeRe(escapeOtherSyntax(glob), OPTIONS, true)
  if (typeof source !== 'string') throw new TypeError('it has no regular expression')
  return source
}

/** Makes a text match only itself as a glob. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]{}]/g, '\\$&')
}

/** The text that a glob stands for when nothing in it varies. */
export function literalOf(glob: string): string | undefined {
  if (/[*?[\]{}]/.test(glob.replaceAll(/\\./gs, ''))) return undefined
  return glob.replaceAll(/\\(.)/gs, '$1')
}

/** Extended globs, groups and quotes of picomatch are ordinary characters of file names here, and so is a `\d`. */
function escapeOtherSyntax(glob: string): string {
  return glob.replaceAll(/\\.|\[!|\[\^?\]?[^\]]*\]|[()|!+@^$"]/gs, (part) => {
    if (part === '[!') return '[^'
    return part.length > 1 ? part.replaceAll(/\\([A-Za-z0-9])/g, '$1') : `\\${part}`
  })
}

/**
 * Runs an expression over a text by following all its ways in parallel, character by character. It never goes back, so the
 * time is at most the length of the expression times that of the text, where a RegExp of the same source can take ages.
 * The ways that are open after some characters are a state; where a symbol leads from a state is worked out once.
 */
export class LinearMatcher {
  readonly #prefix: string
  readonly #begin: ExpressionStep
  #ways: (readonly ExpressionStep[])[] = []
  #numbers = new Map<string, number>()
  #table = new Int8Array(0)
  #rare = new Map<number, number>()

  constructor(source: string) {
    const { prefix, rest } = cutPrefix(readExpression(source))
    this.#prefix = prefix
    this.#begin = rest
    this.#forget()
  }

  /** Whether the whole text matches; named as in RegExp, in whose place it stands. */
  test(text: string): boolean {
    if (!text.startsWith(this.#prefix)) return false
    let state = BEGIN
    for (let index = this.#prefix.length; index <= text.length; index++) {
      const symbol = symbolAt(text, index)
      const known = symbol < SYMBOLS ? this.#table[state * SYMBOLS + symbol] : this.#rare.get(rareKey(state, symbol))
      state = known || this.#advance(state, symbol)
      if (state === FAILED) return false
    }
    return state === ACCEPTED
  }

  #advance(state: number, symbol: number): number {
    const ways = this.#follow(state, symbol)
    if (this.#ways.length >= MAX_STATES || this.#rare.size >= MAX_RARE) {
      this.#forget()
      return this.#numberOf(ways)
    }
    const next = this.#numberOf(ways)
    if (symbol < SYMBOLS) this.#table[state * SYMBOLS + symbol] = next
    else this.#rare.set(rareKey(state, symbol), next)
    return next
  }

  #follow(state: number, symbol: number): Set<ExpressionStep> {
    const isStart = state === BEGIN && this.#prefix === ''
    const checks = checksOf(symbol) | (isStart ? CHECK.START : 0)
    const code = codeOf(symbol)
    const ways = new Set<ExpressionStep>()
    for (const step of reach(this.#ways[state]!, checks)) {
      if (step.type === 'match' && code === undefined) ways.add(step)
      if (step.type === 'take' && code !== undefined && step.fits(code)) ways.add(step.next)
    }
    return ways
  }

  #numberOf(ways: ReadonlySet<ExpressionStep>): number {
    const steps = [...ways].sort((a, b) => a.id - b.id)
    const key = steps.map(({ id }) => id).join()
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#ways.push(steps) - 1
    this.#numbers.set(key, number)
    if (this.#table.length < this.#ways.length * SYMBOLS) {
      const larger = new Int8Array(2 * this.#ways.length * SYMBOLS)
      larger.set(this.#table)
      this.#table = larger
    }
    return number
  }

  #forget(): void {
    this.#ways = [[], [], [], [this.#begin]]
    this.#numbers = new Map([
      ['', FAILED],
      [String(MATCH), ACCEPTED],
    ])
    this.#table = new Int8Array(8 * SYMBOLS)
    this.#rare = new Map()
  }
}

function rareKey(state: number, symbol: number): number {
  return (state << SYMBOL_BITS) | symbol
}

/** The steps that can be reached without taking a character. */
function reach(steps: readonly ExpressionStep[], checks: number): Set<ExpressionStep> {
  const reached = new Set(steps)
  // A set also visits what is added to it meanwhile.
  for (const step of reached) {
    if (step.type === 'split') for (const way of step.next) reached.add(way)
    if (step.type === 'check' && (checks & step.check) !== 0) reached.add(step.next)
  }
  return reached
}

/** Most patterns begin with the letters of a folder: those are compared directly. */
function cutPrefix(first: ExpressionStep): { prefix: string; rest: ExpressionStep } {
  let prefix = ''
  let rest = first
  for (;;) {
    if (rest.type === 'take' && rest.literal !== undefined) prefix += rest.literal
    else if (!(rest.type === 'check' && rest.check === CHECK.START && prefix === '')) return { prefix, rest }
    rest = rest.next
  }
}

/** What a matcher sees at a place of a text: the character, together with the checks that hold there where they are not as always. */
function symbolAt(text: string, index: number): number {
  if (index === text.length) return END_OF_TEXT
  const code = text.charCodeAt(index)
  if (code < ASCII && code !== DOT && code !== SLASH) return code
  const follows = text.charCodeAt(index + 1)
  // By far the most dots and slashes, at no cost; the rest of what is common is found out below.
  if (code === SLASH ? follows !== DOT : code === DOT && follows > SLASH) return code
  return markedSymbol(text, index, code)
}

/** The checks that hold at a symbol, but for START. */
function checksOf(symbol: number): number {
  if (symbol >= SYMBOLS) return symbol >> CHECKS_SHIFT
  if (symbol === END_OF_TEXT) return AT_END
  return symbol === SLASH ? AT_SLASH : ORDINARY
}

/** The code of the character; none at the end of the text. */
function codeOf(symbol: number): number | undefined {
  if (symbol >= SYMBOLS) return symbol & 0xffff
  return symbol === END_OF_TEXT ? undefined : symbol
}

function markedSymbol(text: string, index: number, code: number): number {
  const isDotPart = (index === 0 && isDots(text, 0)) || (code === SLASH && isDots(text, index + 1))
  const isLastDot = code === DOT && endsPart(text, index + 1)
  let checks = code === SLASH ? AT_SLASH : ORDINARY
  if (isDotPart) checks &= ~CHECK.NO_DOT_PART
  if (isDots(text, index)) checks &= ~CHECK.NO_DOTS
  if (isLastDot) checks &= ~CHECK.NO_DOT
  const isCommon = code < ASCII && checks === checksOf(code)
  return isCommon ? code : (checks << CHECKS_SHIFT) | code
}

/** Whether `.` or `..` stands there up to a slash or the end. */
function isDots(text: string, index: number): boolean {
  if (text.charCodeAt(index) !== DOT) return false
  return endsPart(text, text.charCodeAt(index + 1) === DOT ? index + 2 : index + 1)
}

function endsPart(text: string, index: number): boolean {
  return index >= text.length || text.charCodeAt(index) === SLASH
}
