import { parseAst } from 'rolldown/parseAst'

/** What an operator becomes, and what the mutation is called. */
const SWAPS = new Map([
  ...pairs('equality', [['===', '!=='], ['==', '!=']]),
  ...pairs('bound', [['<', '<='], ['>', '>=']]),
  ...pairs('arithmetic', [['+', '-'], ['*', '/'], ['+=', '-='], ['++', '--']]),
  ...pairs('logic', [['&&', '||']]),
]) // biome-ignore format: a table reads best as pairs

/** Tried in this order; the first that has the right type is taken. */
const DEFAULTS = ['false', 'undefined', '0', "''", '[]', '{}', 'true']

/**
 * Every mutant of one source file: `{ operator, start, end, becomes }`, where `becomes` lists the replacements of
 * `source.slice(start, end)` in the order in which they are tried.
 */
export function mutantsOf(source) {
  const mutants = []
  walk(parseAst(source, { lang: 'ts' }), [], (node, parents) => {
    for (const [operator, start, end, ...texts] of mutate(node, parents, source)) {
      const becomes = texts.filter((text) => text !== source.slice(start, end))
      mutants.push({ operator, start, end, becomes })
    }
  })
  return mutants
}

/** Visits every node that exists at run time. */
function walk(node, parents, visit) {
  if (/^(TSType|TSInterface|Import|ExportAll)/.test(node.type) && node.type !== 'ImportExpression') return
  visit(node, parents)
  for (const [key, value] of Object.entries(node)) {
    if (/^(typeAnnotation|typeArguments|typeParameters|returnType)$/.test(key)) continue
    for (const child of [value].flat()) if (typeof child?.type === 'string') walk(child, [node, ...parents], visit)
  }
}

function mutate(node, parents, source) {
  const text = ({ start, end }) => source.slice(start, end)
  const replace = (operator, ...becomes) => [operator, node.start, node.end, ...becomes]
  const swap = (from, to) => swapOperator(source, node.operator, from, to)
  switch (node.type) {
    case 'Literal':
      return mutateLiteral(node, parents, replace)
    case 'BinaryExpression':
    case 'AssignmentExpression':
      return swap(node.left.end, node.right.start)
    case 'UpdateExpression':
      return node.prefix ? swap(node.start, node.argument.start) : swap(node.argument.end, node.end)
    case 'LogicalExpression': {
      const operands = [node.left, node.right].map((side) => replace('drop-operand', `(${text(side)})`))
      return [...swap(node.left.end, node.right.start), ...operands]
    }
    case 'UnaryExpression':
      return node.operator === '!' ? [replace('drop-not', `(${text(node.argument)})`)] : []
    case 'AwaitExpression':
      return [replace('drop-await', text(node.argument))]
    case 'ThrowStatement':
      return [replace('drop-throw', ';')]
    case 'ReturnStatement':
      return mutateReturn(node, parents, replace)
    case 'BreakStatement':
    case 'ContinueStatement':
      return parents[0].type === 'SwitchCase' ? [] : [replace('drop-exit', '{}')]
    case 'ExpressionStatement':
      return isCall(node.expression) ? [replace('drop-call', ';')] : []
    case 'ArrayExpression':
      return node.elements.filter(Boolean).map((element) => drop('drop-element', element, source))
    case 'ObjectExpression':
      return node.properties.map((property) => drop('drop-field', property, source))
    default:
      return []
  }
}

function mutateLiteral({ value, regex }, [parent], replace) {
  if (regex !== undefined) {
    const bare = [regex.pattern.replace(/^\^/, ''), regex.pattern.replace(/(?<!\\)\$$/, '')]
    return bare.flatMap((pattern) =>
      pattern === regex.pattern || pattern === '' ? [] : [replace('regex-anchor', `/${pattern}/${regex.flags}`)],
    )
  }
  if (typeof value === 'boolean') return [replace('boolean', String(!value))]
  if (typeof value !== 'number') return []
  // `-1` as a whole is a constant too.
  return [replace('constant', parent.operator === '-' ? `(${value + 1})` : String(value + 1))]
}

function mutateReturn(node, [block, owner], replace) {
  if (node.argument === null) return [replace('drop-exit', '{}')]
  const { start, end } = node.argument
  const byDefault = ['return-default', start, end, ...DEFAULTS]
  // The last statement of a function has nothing after it that would run instead.
  const isLast = /Function/.test(owner.type) && block.body?.at(-1) === node
  return isLast ? [byDefault] : [byDefault, replace('drop-exit', '{}')]
}

function isCall(expression) {
  return (expression.type === 'AwaitExpression' ? expression.argument : expression).type === 'CallExpression'
}

/** Removes one entry of a list, and the comma behind it. */
function drop(operator, { start, end }, source) {
  const comma = /^\s*,/.exec(source.slice(end))?.[0].length ?? 0
  return [operator, start, end + comma, '']
}

/** An operator stands alone between its operands, except for brackets and comments. */
function swapOperator(source, operator, from, to) {
  const [name, other] = SWAPS.get(operator) ?? []
  const at = source.slice(from, to).indexOf(operator)
  return other === undefined || at === -1 ? [] : [[name, from + at, from + at + operator.length, other]]
}

function pairs(name, list) {
  return list.flatMap(([one, other]) => [
    [one, [name, other]],
    [other, [name, one]],
  ])
}
