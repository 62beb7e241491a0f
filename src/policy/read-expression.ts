/** A place in the program of an expression: what may follow there. */
export type ExpressionStep =
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
export const CHECK = {
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
export const MATCH = 0

/** The only lookaheads that picomatch writes for our options; each looks at four characters at most. */
const LOOKAHEADS: readonly (readonly [string, number])[] = [
  ['(?=.)', CHECK.MORE],
  [String.raw`(?!\.{1,2}(?:\/|$))`, CHECK.NO_DOTS],
  [String.raw`(?!\.{0,1}(?:\/|$))`, CHECK.NO_DOT],
  [String.raw`(?!(?:^|\/)\.{1,2}(?:\/|$))`, CHECK.NO_DOT_PART],
]

const CLASS = /\[(?:\\.|[^\]\\])*\]/sy
const SLASH = 47

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
