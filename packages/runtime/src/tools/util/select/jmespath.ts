import { compile, tokenize } from '@jmespath-community/jmespath'
import { invalidPath, isRecord, jsonEqual, type Meter, VALUE_STEPS } from '../meter.ts'
import { callFunction } from './jmespath-functions.ts'

/** Evaluates a JMESPath expression. The library parses it; our evaluator is metered. */
export function selectByJmesPath(json: unknown, path: string, meter: Meter): unknown {
  return new JmesPathEvaluator(json, meter).run(parse(path))
}

function parse(path: string): JmesPathNode {
  const source = standardQuotes(path)
  try {
    return compile(source)
  } catch (cause) {
    if (cause instanceof RangeError) throw cause
    const problem = (cause as Error).message.replace(/^syntax(?: error)?[:,] */i, '')
    throw invalidPath(`${problem}.`, { index: failingIndex(source), cause })
  }
}

const QUOTED = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/gs

/**
 * The library unescapes a double backslash in a 'raw string', which the standard keeps, and only the first \` of a
 * `literal`, and it accepts an unclosed quote. This rewrites them so that it follows the standard.
 */
function standardQuotes(path: string): string {
  const open = path.replaceAll(QUOTED, (quoted) => ' '.repeat(quoted.length)).search(/["'`]/)
  if (open !== -1) throw invalidPath(`the ${path[open]} is never closed.`, { index: open })
  return path.replaceAll(QUOTED, (quoted) => {
    if (quoted.startsWith("'")) return quoted.replaceAll('\\\\', '\\\\\\\\')
    if (quoted.startsWith('`')) return `\`${quoted.slice(1, -1).replaceAll('\\`', '\\u0060')}\``
    return quoted
  })
}

/**
 * Where the parser failed, which the library does not report: the first token that does not fit. Up to it the text is
 * an incomplete expression, from it on an error, so bisection finds it in a dozen tries.
 */
function failingIndex(source: string): number | undefined {
  const starts = tokenStarts(source)
  if (!starts) return undefined
  let fitting = 0
  let failing = starts.length
  while (fitting < failing) {
    const middle = (fitting + failing) >> 1
    if (isBeginning(source.slice(0, starts[middle + 1] ?? source.length))) fitting = middle + 1
    else failing = middle
  }
  return starts[fitting] ?? source.length
}

function tokenStarts(source: string): number[] | undefined {
  try {
    return tokenize(source).map(({ start }) => start)
  } catch {
    return undefined // not even tokens: the message names the character
  }
}

function isBeginning(source: string): boolean {
  try {
    compile(source)
    return true
  } catch (error) {
    return (error as Error).message.includes('EOF')
  }
}

/** A node of the library's syntax tree. */
type JmesPathNode = ReturnType<typeof compile>

type NodeOf<Type extends JmesPathNode['type']> = Extract<JmesPathNode, { readonly type: Type }>

/** Variables of `let $name = … in …`. */
type Scope = ReadonlyMap<string, unknown>

/** Evaluates a parsed JMESPath expression; every step is metered. */
class JmesPathEvaluator {
  readonly #root: unknown
  readonly #meter: Meter
  /** Checking whether an object is empty costs as much as it has keys, so it is done once. */
  readonly #empty = new WeakMap<object, boolean>()

  constructor(root: unknown, meter: Meter) {
    this.#root = root
    this.#meter = meter
  }

  /** The value of the expression for `value`; a function is an &expression. */
  run(node: JmesPathNode, value: unknown = this.#root, scope: Scope = new Map()): unknown {
    this.#meter.spend(1)
    switch (node.type) {
      case 'Identity':
      case 'Current':
        return value
      case 'Root':
        return this.#root
      case 'Literal':
        return node.value
      case 'Field':
        return isRecord(value) && Object.hasOwn(value, node.name) ? value[node.name] : null
      case 'Index':
        return Array.isArray(value) ? (value.at(node.value) ?? null) : null
      case 'Slice':
        return this.#slice(node, value)
      case 'Subexpression': {
        const left = this.run(node.left, value, scope)
        return left === null ? null : this.run(node.right, left, scope)
      }
      case 'IndexExpression':
      case 'Pipe':
        return this.run(node.right, this.run(node.left, value, scope), scope)
      case 'Projection':
        return this.#project(this.run(node.left, value, scope), node.right, scope)
      case 'ValueProjection':
        return this.#project(this.#values(this.run(node.left, value, scope)), node.right, scope)
      case 'FilterProjection':
        return this.#filter(node, value, scope)
      case 'Flatten':
        return this.#flatten(this.run(node.child, value, scope))
      case 'MultiSelectList':
        return node.children.map((child) => this.run(child, value, scope))
      case 'MultiSelectHash':
        return Object.fromEntries(node.children.map((child) => [child.name, this.run(child.value, value, scope)]))
      case 'OrExpression': {
        const left = this.run(node.left, value, scope)
        return this.#isTrue(left) ? left : this.run(node.right, value, scope)
      }
      case 'AndExpression': {
        const left = this.run(node.left, value, scope)
        return this.#isTrue(left) ? this.run(node.right, value, scope) : left
      }
      case 'NotExpression':
        return !this.#isTrue(this.run(node.child, value, scope))
      case 'Ternary': {
        const branch = this.#isTrue(this.run(node.condition, value, scope)) ? node.trueExpr : node.falseExpr
        return this.run(branch, value, scope)
      }
      case 'Comparator':
        return this.#compare(this.run(node.left, value, scope), node.name, this.run(node.right, value, scope))
      case 'Arithmetic':
        return calculate(this.run(node.left, value, scope), node.operator, this.run(node.right, value, scope))
      case 'Unary':
        return calculate(0, node.operator, this.run(node.operand, value, scope))
      case 'Function': {
        const args = node.children.map((child) => this.run(child, value, scope))
        return callFunction(node.name, args, this.#meter)
      }
      case 'ExpressionReference':
        return (item: unknown) => this.run(node.child, item, scope)
      case 'LetExpression': {
        this.#meter.spend(scope.size)
        const inner = new Map(scope)
        for (const { variable, reference } of node.bindings) inner.set(variable, this.run(reference, value, scope))
        return this.run(node.expression, value, inner)
      }
      case 'Variable':
        if (!scope.has(node.name)) throw invalidPath(`the variable $${node.name} is not defined.`)
        return scope.get(node.name)
      default:
        throw invalidPath(`${node.type} has no meaning there.`)
    }
  }

  #project(list: unknown, right: JmesPathNode, scope: Scope): unknown[] | null {
    if (!Array.isArray(list)) return null
    const projected: unknown[] = []
    for (const item of list) {
      const result = this.run(right, item, scope)
      if (result !== null) projected.push(result)
    }
    return projected
  }

  #filter(node: NodeOf<'FilterProjection'>, value: unknown, scope: Scope): unknown[] | null {
    const list = this.run(node.left, value, scope)
    if (!Array.isArray(list)) return null
    const kept = list.filter((item) => this.#isTrue(this.run(node.condition, item, scope)))
    return this.#project(kept, node.right, scope)
  }

  #values(value: unknown): unknown[] | null {
    if (!isRecord(value)) return null
    const values = Object.values(value)
    this.#meter.spend(values.length * VALUE_STEPS)
    return values
  }

  #flatten(list: unknown): unknown[] | null {
    if (!Array.isArray(list)) return null
    for (const item of list) this.#meter.spend(Array.isArray(item) ? item.length : 1)
    return list.flat()
  }

  #slice({ start, stop, step: stride }: NodeOf<'Slice'>, list: unknown): unknown[] | null {
    if (!Array.isArray(list)) return null
    const step = stride ?? 1
    if (step === 0) throw invalidPath('the step of a slice cannot be 0.')
    const [least, most] = step > 0 ? [0, list.length] : [-1, list.length - 1]
    const clamp = (index: number) => Math.min(Math.max(index < 0 ? index + list.length : index, least), most)
    const from = start === null ? (step > 0 ? least : most) : clamp(start)
    const to = stop === null ? (step > 0 ? most : least) : clamp(stop)
    this.#meter.spend(Math.max(0, Math.ceil((to - from) / step)))
    const slice: unknown[] = []
    for (let index = from; step > 0 ? index < to : index > to; index += step) slice.push(list[index])
    return slice
  }

  #compare(left: unknown, operator: NodeOf<'Comparator'>['name'], right: unknown): boolean | null {
    if (operator === 'EQ') return jsonEqual(left, right, this.#meter)
    if (operator === 'NE') return !jsonEqual(left, right, this.#meter)
    if (typeof left !== 'number' || typeof right !== 'number') return null
    if (operator === 'LT') return left < right
    if (operator === 'LTE') return left <= right
    return operator === 'GT' ? left > right : left >= right
  }

  /** Everything but null, false and empty values. */
  #isTrue(value: unknown): boolean {
    if (Array.isArray(value)) return value.length > 0
    if (!isRecord(value)) return value !== null && value !== false && value !== ''
    let empty = this.#empty.get(value)
    if (empty === undefined) {
      empty = Object.keys(value).length === 0
      this.#empty.set(value, empty)
    }
    return !empty
  }
}

function calculate(left: unknown, operator: string, right: unknown): number {
  if (typeof left !== 'number' || typeof right !== 'number') throw invalidPath('arithmetic needs two numbers.')
  const result = arithmetic(left, operator, right)
  if (!Number.isFinite(result)) throw invalidPath(`${left} ${operator} ${right} is not a number that JSON has.`)
  return result
}

function arithmetic(left: number, operator: string, right: number): number {
  if (operator === 'Plus') return left + right
  if (operator === 'Minus') return left - right
  if (operator === 'Divide') return left / right
  if (operator === 'Div') return Math.floor(left / right)
  return operator === 'Modulo' ? left % right : left * right
}
