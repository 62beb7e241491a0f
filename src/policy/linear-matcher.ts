import { CHECK, MATCH, readExpression, type Step } from './read-expression.ts'
import { checksOf, codeOf, SYMBOL_BITS, SYMBOLS, symbolAt } from './symbol-at.ts'

/** States are numbers, the first of them the same in every matcher; 0 in the table is a state not yet looked for. */
const FAILED = 1
const ACCEPTED = 2
const BEGIN = 3

/** Room for ordinary texts, some 20 kB; hostile ones make the matcher forget, so they cost it time but no memory. */
const MOST_STATES = 120
const MOST_RARE = 500

/**
 * Runs an expression over a text by following all its ways at once, character by character. It never goes back, so the
 * time is at most the length of the expression times that of the text, where a RegExp of the same source can take ages.
 * The ways that are open after some characters are a state; where a symbol leads from a state is worked out once.
 */
export class LinearMatcher {
  readonly #prefix: string
  readonly #begin: Step
  #ways: (readonly Step[])[] = []
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
    if (this.#ways.length >= MOST_STATES || this.#rare.size >= MOST_RARE) {
      this.#forget()
      return this.#numberOf(ways)
    }
    const next = this.#numberOf(ways)
    if (symbol < SYMBOLS) this.#table[state * SYMBOLS + symbol] = next
    else this.#rare.set(rareKey(state, symbol), next)
    return next
  }

  #follow(state: number, symbol: number): Set<Step> {
    const isStart = state === BEGIN && this.#prefix === ''
    const checks = checksOf(symbol) | (isStart ? CHECK.START : 0)
    const code = codeOf(symbol)
    const ways = new Set<Step>()
    for (const step of reach(this.#ways[state]!, checks)) {
      if (step.type === 'match' && code === undefined) ways.add(step)
      if (step.type === 'take' && code !== undefined && step.fits(code)) ways.add(step.next)
    }
    return ways
  }

  #numberOf(ways: ReadonlySet<Step>): number {
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
function reach(steps: readonly Step[], checks: number): Set<Step> {
  const reached = new Set(steps)
  // A set also visits what is added to it meanwhile.
  for (const step of reached) {
    if (step.type === 'split') for (const way of step.next) reached.add(way)
    if (step.type === 'check' && (checks & step.check) !== 0) reached.add(step.next)
  }
  return reached
}

/** Most patterns begin with the letters of a folder: those are compared at once. */
function cutPrefix(first: Step): { prefix: string; rest: Step } {
  let prefix = ''
  let rest = first
  for (;;) {
    if (rest.type === 'take' && rest.literal !== undefined) prefix += rest.literal
    else if (!(rest.type === 'check' && rest.check === CHECK.START && prefix === '')) return { prefix, rest }
    rest = rest.next
  }
}
