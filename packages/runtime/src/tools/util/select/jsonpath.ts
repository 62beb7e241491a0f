import { JSONPathEnvironment, JSONPathError, type JSONPathQuery, jsonpath, TokenKind } from 'json-p3'
import { RE2JS } from 're2js'
import { compareText, countCodePoints } from '../cut-text.ts'
import { invalidPath, isRecord, jsonEqual, type Meter, VALUE_STEPS } from '../meter.ts'

const environment = new JSONPathEnvironment()

/** The values of all nodes that a JSONPath (RFC 9535) selects. json-p3 parses the path; our evaluator is metered. */
export function selectByJsonPath(json: unknown, path: string, meter: Meter): unknown[] {
  return new JsonPathEvaluator(json, meter).run(parse(path))
}

function parse(path: string): ReturnType<typeof environment.compile> {
  try {
    return environment.compile(path)
  } catch (cause) {
    if (!(cause instanceof JSONPathError)) throw cause
    const problem = cause.message.replace(/ \('.*':-?\d+\)$/s, '.')
    throw invalidPath(problem, { index: Math.max(0, cause.token.index), cause })
  }
}

const MAX_PATTERN_LENGTH = 1000

const MAX_REPEATS = 1000

const ESCAPE = String.raw`\\[()*+\-.?[\\\]^nrt{|}]`

const CATEGORY = String.raw`\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}`

const MEMBER = String.raw`(?:[^\-[\\\]\ud800-\udfff]|${ESCAPE})`

const MEMBERS = `(?:${MEMBER}(?:-${MEMBER})?|${CATEGORY})`

const CLASS = String.raw`\[\^?(?:-|${MEMBERS})${MEMBERS}*-?\]`

const NORMAL = String.raw`[^()*+.?[\\\]{|}\ud800-\udfff]`

const REPEAT = String.raw`[*+?]|\{(?<least>\d+)(?:,(?<most>\d*))?\}`

/** One step through a pattern by the grammar of RFC 9485; this regular expression takes linear time. */
const PIECE = new RegExp(
  `(?<open>\\()|(?<bar>\\|)|(?:(?<close>\\))|(?<dot>\\.)|${ESCAPE}|${CATEGORY}|${CLASS}|${NORMAL})(?<repeat>${REPEAT})?`,
  'uy',
)

/**
 * The `match` and `search` functions of JSONPath: I-Regexp, run by an engine that takes linear time for any pattern.
 */
class IRegexp {
  readonly #compiled = new Map<string, RE2JS | undefined>()
  readonly #meter: Meter

  constructor(meter: Meter) {
    this.#meter = meter
  }

  /**
   * Whether the whole text (`match`) or a part of it (`search`) matches; a pattern that is not an I-Regexp matches
   * nothing.
   */
  fits(text: unknown, pattern: unknown, { whole }: { whole: boolean }): boolean {
    if (typeof text !== 'string' || typeof pattern !== 'string') return false
    const regexp = this.#compile(pattern)
    if (!regexp) return false
    this.#meter.spend(1 + (text.length * regexp.programSize()) / 4)
    const matcher = regexp.matcher(text)
    return whole ? matcher.matches() : matcher.find()
  }

  #compile(pattern: string): RE2JS | undefined {
    if (this.#compiled.has(pattern)) return this.#compiled.get(pattern)
    this.#meter.spend(500)
    const translated = translate(pattern)
    const regexp = translated === undefined ? undefined : compileLinear(translated)
    this.#meter.spend((regexp?.programSize() ?? 0) * 40)
    this.#compiled.set(pattern, regexp)
    return regexp
  }
}

const { NameSelector, IndexSelector, SliceSelector, WildcardSelector, FilterSelector } = jsonpath.selectors
const { InfixExpression, PrefixExpression, LogicalExpression, FilterQuery, RootQuery, FunctionExtension } =
  jsonpath.expressions

type Selector = InstanceType<typeof jsonpath.JSONPathSelector>
type Expression = InstanceType<typeof jsonpath.expressions.FilterExpression>

/** The value of a query that finds nothing; JSON has no `undefined`, so it cannot be confused. */
const NOTHING = undefined

/** Evaluates a parsed JSONPath; every visited node is metered. */
class JsonPathEvaluator {
  readonly #root: unknown
  readonly #meter: Meter
  readonly #regexp: IRegexp

  constructor(root: unknown, meter: Meter) {
    this.#root = root
    this.#meter = meter
    this.#regexp = new IRegexp(meter)
  }

  /** The values of the nodes that the query selects, starting at `from`. */
  run(query: JSONPathQuery, from: unknown = this.#root): unknown[] {
    let nodes = [from]
    for (const segment of query.segments) {
      const found: unknown[] = []
      const visit = (node: unknown) => {
        for (const selector of segment.selectors) this.#select(selector, node, found)
      }
      for (const node of nodes) {
        if (segment.token.kind === TokenKind.DDOT) this.#descend(node, visit)
        else visit(node)
      }
      nodes = found
    }
    return nodes
  }

  #descend(node: unknown, visit: (node: unknown) => void): void {
    visit(node)
    for (const child of this.#children(node)) this.#descend(child, visit)
  }

  #children(node: unknown): readonly unknown[] {
    this.#meter.spend(1)
    if (typeof node !== 'object' || node === null) return []
    const children = Array.isArray(node) ? node : Object.values(node)
    this.#meter.spend(children.length * (children === node ? 1 : VALUE_STEPS))
    return children
  }

  #select(selector: Selector, node: unknown, found: unknown[]): void {
    this.#meter.spend(1)
    if (selector instanceof NameSelector) {
      if (isRecord(node) && Object.hasOwn(node, selector.name)) found.push(node[selector.name])
    } else if (selector instanceof IndexSelector) {
      const index = Array.isArray(node) && selector.index < 0 ? node.length + selector.index : selector.index
      if (Array.isArray(node) && index >= 0 && index < node.length) found.push(node[index])
    } else if (selector instanceof WildcardSelector) {
      for (const child of this.#children(node)) found.push(child)
    } else if (selector instanceof FilterSelector) {
      for (const child of this.#children(node)) if (this.#holds(selector.expression, child)) found.push(child)
    } else if (selector instanceof SliceSelector) {
      if (Array.isArray(node)) this.#slice(selector, node, found)
    } else throw new TypeError(`Unknown selector ${selector.toString()}`)
  }

  #slice({ start, stop, step = 1 }: InstanceType<typeof SliceSelector>, list: unknown[], found: unknown[]): void {
    if (step === 0) return
    const clamp = (index: number) => {
      const positive = index < 0 ? index + list.length : index
      return step > 0 ? Math.min(Math.max(positive, 0), list.length) : Math.min(Math.max(positive, -1), list.length - 1)
    }
    const from = start === undefined ? (step > 0 ? 0 : list.length - 1) : clamp(start)
    const to = stop === undefined ? (step > 0 ? list.length : -1) : clamp(stop)
    for (let index = from; step > 0 ? index < to : index > to; index += step) {
      this.#meter.spend(1)
      found.push(list[index])
    }
  }

  #holds(expression: Expression, current: unknown): boolean {
    this.#meter.spend(1)
    if (expression instanceof LogicalExpression) return this.#holds(expression.expression, current)
    if (expression instanceof PrefixExpression) return !this.#holds(expression.right, current)
    if (expression instanceof FilterQuery) return this.#query(expression, current).length > 0
    if (expression instanceof FunctionExtension) return this.#call(expression, current) === true
    if (!(expression instanceof InfixExpression)) throw new TypeError(`Unknown expression ${expression.toString()}`)
    const { left, operator, right } = expression
    if (operator === '&&') return this.#holds(left, current) && this.#holds(right, current)
    if (operator === '||') return this.#holds(left, current) || this.#holds(right, current)
    return this.#compare(this.#value(left, current), operator, this.#value(right, current))
  }

  #compare(left: unknown, operator: string, right: unknown): boolean {
    if (operator === '==') return jsonEqual(left, right, this.#meter)
    if (operator === '!=') return !jsonEqual(left, right, this.#meter)
    if (operator === '>') return this.#isLess(right, left)
    if (operator === '<') return this.#isLess(left, right)
    const less = operator === '<=' ? this.#isLess(left, right) : this.#isLess(right, left)
    return less || jsonEqual(left, right, this.#meter)
  }

  #isLess(left: unknown, right: unknown): boolean {
    if (typeof left === 'number' && typeof right === 'number') return left < right
    if (typeof left !== 'string' || typeof right !== 'string') return false
    this.#meter.spend(Math.min(left.length, right.length) >> 4)
    return compareText(left, right) < 0
  }

  /** The value of a literal, of a query for at most one node, or of a function. */
  #value(expression: Expression, current: unknown): unknown {
    this.#meter.spend(1)
    if (expression instanceof FilterQuery) return this.#query(expression, current)[0]
    if (expression instanceof FunctionExtension) return this.#call(expression, current)
    return 'value' in expression ? expression.value : null
  }

  #query(expression: InstanceType<typeof FilterQuery>, current: unknown): unknown[] {
    return this.run(expression.path, expression instanceof RootQuery ? this.#root : current)
  }

  /** The five functions of RFC 9535; json-p3 has checked their names and arguments. */
  #call({ name, args }: InstanceType<typeof FunctionExtension>, current: unknown): unknown {
    const [first, second] = args as [Expression, Expression]
    if (name === 'count' || name === 'value') {
      const nodes = this.#query(first as InstanceType<typeof FilterQuery>, current)
      if (name === 'count') return nodes.length
      return nodes.length === 1 ? nodes[0] : NOTHING
    }
    const value = this.#value(first, current)
    if (name === 'length') return this.#length(value)
    return this.#regexp.fits(value, this.#value(second, current), { whole: name === 'match' })
  }

  #length(value: unknown): number | undefined {
    if (typeof value === 'string') {
      this.#meter.spend(value.length >> 4)
      return countCodePoints(value)
    }
    return typeof value === 'object' && value !== null ? this.#children(value).length : NOTHING
  }
}

/** I-Regexp in RE2 syntax; `undefined` if the pattern does not follow the grammar. */
function translate(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw tooLarge(`has ${pattern.length} characters, the limit is ${MAX_PATTERN_LENGTH}`)
  let translated = ''
  let depth = 0
  let repeats = 0
  PIECE.lastIndex = 0
  while (PIECE.lastIndex < pattern.length) {
    const piece = PIECE.exec(pattern)
    if (!piece) return undefined
    const { open, close, dot, repeat = '', least = '0', most } = piece.groups!
    if (open) depth++
    if (close && --depth < 0) return undefined
    if (most && Number(most) < Number(least)) return undefined
    repeats += Number(most || least)
    translated += open ? '(?:' : dot ? `[^\\n\\r]${repeat}` : piece[0]
  }
  if (repeats > MAX_REPEATS) throw tooLarge(`repeats ${repeats} times in all, the limit is ${MAX_REPEATS}`)
  return depth === 0 ? translated : undefined
}

function compileLinear(translated: string): RE2JS {
  try {
    return RE2JS.compile(translated)
  } catch (cause) {
    // The grammar was checked, so this is the engine's own limit for nested repetitions.
    throw tooLarge(`cannot be used (${(cause as Error).message})`)
  }
}

function tooLarge(problem: string): Error {
  return invalidPath(`a pattern of match() or search() ${problem}.`)
}
