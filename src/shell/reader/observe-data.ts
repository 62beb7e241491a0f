import type { ArithmeticExpression, Assignment, Command, CommandArgument, SyntaxNode, Word } from 'unbash'
import { joinSources, type LineData, SAFE, UNSAFE } from './line-data.ts'
import { observeBuiltin } from './observe-builtin.ts'
import {
  sourceOfArithmetic,
  sourceOfAssigned,
  sourceOfName,
  sourceOfNames,
  sourceOfSubscript,
  sourceOfWord,
} from './read-source.ts'

/** Notes what a node of the syntax tree sets, and what bash evaluates in it. */
export function observeData(node: SyntaxNode, data: LineData): void {
  switch (node.type) {
    case 'Command':
      observeCommand(node, data)
      break
    case 'Assignment':
      observeAssignment(node, data)
      break
    case 'For':
    case 'Select':
      data.assign(node.name.value, listOf(node.wordlist), node.name.text)
      if (node.type === 'Select') data.assign('REPLY', UNSAFE, node.name.text)
      break
    case 'Coproc':
      if (node.name) data.assign(node.name.value, SAFE, `coproc ${node.name.text}`)
      break
    case 'Redirect':
      if (node.descriptor?.type === 'FileDescriptorVariable') observeName(node.descriptor.name, data)
      break
    case 'ArithmeticExpansion':
      observeArithmetic(node.expression, node.text, data)
      break
    case 'ArithmeticCommand':
      observeArithmetic(node.expression, `((${node.body}))`, data)
      break
    case 'ArithmeticFor':
      for (const each of [node.initialize, node.test, node.update])
        if (each !== undefined) observeArithmetic(each, 'for ((…))', data)
      break
    case 'TestBinary':
      observeTest(node.operator, node.left, node.right, data)
      break
    case 'TestUnary':
      if (node.operator === '-v' || node.operator === '-R')
        data.evaluate(`[[ ${node.operator} ${node.operand.text} ]]`, sourceOfSubscript(node.operand))
      break
    case 'ParameterExpansion': {
      const { prefix, parameter, index, operation, text } = node
      if (index !== undefined && !/^[@*]$/.test(index.text)) data.evaluate(text, sourceOfWord(index))
      if (prefix === '!' && operation?.type !== 'Names') data.evaluate(text, sourceOfName(parameter))
      if (operation?.type === 'Slice')
        for (const word of [operation.offset, operation.length]) if (word) data.evaluate(text, sourceOfWord(word))
      if (operation?.type === 'Transform' && operation.operand.text === 'P')
        data.evaluate(text, sourceOfName(parameter))
      if (operation?.type === 'Default' && operation.operator.endsWith('='))
        data.assign(prefix === '!' ? undefined : parameter, sourceOfWord(operation.operand), text)
      break
    }
    default:
  }
}

function observeCommand(node: Command, data: LineData) {
  let words: readonly CommandArgument[] = node.name ? [node.name, ...node.args] : []
  // These run the builtin that follows.
  while (/^(?:command|builtin|--|-p)$/.test(nameOf(words) ?? '')) words = words.slice(1)
  const name = nameOf(words)
  if (name !== undefined) observeBuiltin(name, words.slice(1), node.redirects, data)
}

function nameOf([first]: readonly CommandArgument[]): string | undefined {
  return first?.type === 'Word' ? first.value : undefined
}

function observeAssignment(assignment: Assignment, data: LineData) {
  const { name, index, value, text } = assignment
  data.assign(name, sourceOfAssigned(assignment), text, true)
  if (index !== undefined) data.evaluate(text, sourceOfWord(index))
  if (value.type === 'ArrayValue')
    for (const element of value.elements) {
      const subscript = /^\[(.*)\]\+?=/s.exec(element.text)?.[1]
      if (subscript !== undefined) data.evaluate(element.text, sourceOfWord(element))
    }
}

/** `{a[i]}>file` sets an element. */
function observeName(name: string, data: LineData) {
  const bracket = name.indexOf('[')
  data.assign(bracket === -1 ? name : name.slice(0, bracket), SAFE, `{${name}}`)
  if (bracket !== -1) data.evaluate(`{${name}}`, /[$`]/.test(name) ? UNSAFE : sourceOfNames(name.slice(bracket)))
}

function observeArithmetic(expression: ArithmeticExpression | undefined, text: string, data: LineData) {
  if (expression === undefined && !/[\w$`]/.test(text.replace(/^\$?[([]+|[)\]]+$/g, ''))) return
  data.evaluate(text, sourceOfArithmetic(expression))
  for (const name of assignedIn(expression)) data.assign(name, SAFE, text)
}

/** Variables that an expression sets. */
function assignedIn(expression: ArithmeticExpression | undefined): readonly string[] {
  switch (expression?.type) {
    case 'ArithmeticBinary': {
      const own = /^(?:[-+*/%&^|]|<<|>>)?=$/.test(expression.operator) ? leafName(expression.left) : []
      return [...own, ...assignedIn(expression.left), ...assignedIn(expression.right)]
    }
    case 'ArithmeticUnary':
      return ['++', '--'].includes(expression.operator) ? leafName(expression.operand) : assignedIn(expression.operand)
    case 'ArithmeticTernary':
      return [expression.test, expression.consequent, expression.alternate].flatMap(assignedIn)
    case 'ArithmeticGroup':
      return assignedIn(expression.expression)
    default:
      return []
  }
}

function leafName(expression: ArithmeticExpression): readonly string[] {
  return expression.type === 'ArithmeticWord' ? (/^[A-Za-z_]\w*/.exec(expression.value) ?? []) : []
}

const COMPARISONS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])

function observeTest(operator: string, left: Word, right: Word, data: LineData) {
  if (COMPARISONS.has(operator))
    data.evaluate(`[[ ${left.text} ${operator} ${right.text} ]]`, joinSources([left, right].map(sourceOfWord)))
  if (operator === '=~') data.assign('BASH_REMATCH', sourceOfWord(left), left.text)
}

/** Without a list, a loop goes over the positional parameters. */
function listOf(words: readonly Word[] | undefined) {
  return words === undefined ? sourceOfName('@') : joinSources(words.map(sourceOfWord))
}
