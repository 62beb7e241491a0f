/** A place in the program of an expression: what may follow there. */
type ExpressionStep =
  | { readonly id: number; readonly type: 'match' }
  | {
      readonly id: number
      readonly type: 'take'
      readonly fits: Fits
      readonly literal?: string
      readonly next: ExpressionStep
    }
  | { readonly id: number; readonly type: 'check'; readonly check: number; readonly next: ExpressionStep }
  | { readonly id: number; readonly type: 'split'; readonly next: ExpressionStep[] }

/** Whether a step takes the character with this code. */
type Fits = (code: number) => boolean

/** Builds the steps of a part, given those behind it. */
type Part = (next: ExpressionStep) => ExpressionStep

/** What an expression may ask about a place without taking a character, one bit each. */
const CHECK = {
  /** The text begins here. */
  START: 1,
  /** The text ends here. */
  END: 2,
  /** A character follows. */
  MORE: 4,
  /** No `.` or `..` stands here up to a slash or the end. */
  NO_DOTS: 8,
  /** The same behind a first dot: neither the end of the part nor one more dot and its end. */
  NO_DOT: 16,
  /** No `.` or `..` begins as a part of the path, here or behind the slash here. */
  NO_DOT_PART: 32,
} as const

/** The id of the step that ends every expression. */
const MATCH = 0

/** The only lookaheads that picomatch writes for our options; each looks at four characters at most. */
const LOOKAHEADS: readonly (readonly [string, number])[] = [
  ['(?=.)', CHECK.MORE],
  [String.raw`(?!\.{1,2}(?:\/|$))`, CHECK.NO_DOTS],
  [String.raw`(?!\.{0,1}(?:\/|$))`, CHECK.NO_DOT],
  [String.raw`(?!(?:^|\/)\.{1,2}(?:\/|$))`, CHECK.NO_DOT_PART],
]

const CLASS = /\[(?:\\.|[^\]\\])*\]/sy

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
      const code = text.charCodeAt(index)
      // By far the most characters: the rest, and the end of the text, may be special.
      const symbol = code < ASCII && code !== DOT && code !== SLASH ? code : symbolAt(text, index, code)
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
function symbolAt(text: string, index: number, code: number): number {
  if (index === text.length) return END_OF_TEXT
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

/** Reads the small part of regular expressions that picomatch writes; throws at anything else. */
export function readExpression(source: string): ExpressionStep {
  return new Reader(source).read()
}

class Reader {
  readonly #source: string
  #index = 0
  #steps = MATCH + 1

  constructor(source: string) {
    this.#source = source
  }

  read(): ExpressionStep {
    const whole = this.#alternatives()
    if (this.#index < this.#source.length) throw this.#unknown()
    return whole({ id: MATCH, type: 'match' })
  }

  #alternatives(): Part {
    const parts = [this.#sequence()]
    while (this.#accept('|')) parts.push(this.#sequence())
    if (parts.length === 1) return parts[0]!
    return (next) => this.#split(parts.map((part) => part(next)))
  }

  #sequence(): Part {
    const parts: Part[] = []
    while (this.#index < this.#source.length && !'|)'.includes(this.#source[this.#index]!)) parts.push(this.#repeated())
    return (next) => parts.reduceRight((behind, part) => part(behind), next)
  }

  #repeated(): Part {
    const part = this.#single()
    if (this.#accept('*?')) {
      return (next) => {
        const loop = this.#split([next])
        loop.next.push(part(loop))
        return loop
      }
    }
    if (this.#accept('?')) return (next) => this.#split([part(next), next])
    return part
  }

  #single(): Part {
    const char = this.#source[this.#index]!
    if (char === '(') return this.#group()
    if (char === '[') return this.#class()
    this.#index++
    if (char === '^') return this.#check(CHECK.START)
    if (char === '$') return this.#check(CHECK.END)
    if (char === '.') return this.#take(() => true)
    if (char === '\\') return this.#escaped()
    if ('])*+?{'.includes(char)) throw this.#unknown()
    return this.#literal(char)
  }

  #group(): Part {
    const lookahead = LOOKAHEADS.find(([text]) => this.#accept(text))
    if (lookahead) return this.#check(lookahead[1])
    if (!this.#accept('(?:')) this.#accept('(')
    const inner = this.#alternatives()
    if (!this.#accept(')')) throw this.#unknown()
    return inner
  }

  #class(): Part {
    CLASS.lastIndex = this.#index
    const [text] = CLASS.exec(this.#source) ?? []
    if (text === undefined) throw this.#unknown()
    this.#index += text.length
    return this.#take(readClass(text))
  }

  #escaped(): Part {
    const char = this.#source[this.#index++]
    // An escaped letter or digit would mean more than itself.
    if (char === undefined || /[A-Za-z0-9]/.test(char)) throw this.#unknown()
    return this.#literal(char)
  }

  #literal(literal: string): Part {
    const wanted = literal.charCodeAt(0)
    return (next) => ({ id: this.#steps++, type: 'take', fits: (code) => code === wanted, literal, next })
  }

  #take(fits: Fits): Part {
    return (next) => ({ id: this.#steps++, type: 'take', fits, next })
  }

  #check(check: number): Part {
    return (next) => ({ id: this.#steps++, type: 'check', check, next })
  }

  #split(next: ExpressionStep[]): Extract<ExpressionStep, { type: 'split' }> {
    return { id: this.#steps++, type: 'split', next }
  }

  #accept(text: string): boolean {
    if (!this.#source.startsWith(text, this.#index)) return false
    this.#index += text.length
    return true
  }

  #unknown(): SyntaxError {
    return new SyntaxError(
      `it cannot be read near ${JSON.stringify(this.#source.slice(this.#index, this.#index + 20))}`,
    )
  }
}

/** A class means what JavaScript says; it is asked about one character, and the answer is remembered by the matcher. */
function readClass(text: string): Fits {
  if (text === '[^/]') return (code) => code !== SLASH
  const expression = new RegExp(`^${text}$`, 's')
  return (code) => expression.test(String.fromCharCode(code))
}
