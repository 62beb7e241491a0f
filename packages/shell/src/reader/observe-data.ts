import type { ArithmeticExpression, Assignment, Command, CommandArgument, Redirection, SyntaxNode, Word } from 'unbash'
import {
  joinSources,
  type LineData,
  SAFE,
  type Source,
  sourceOfArguments,
  sourceOfArithmetic,
  sourceOfAssigned,
  sourceOfName,
  sourceOfNames,
  sourceOfSubscript,
  sourceOfWord,
  UNSAFE,
} from './line-data.ts'

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

/** Notes what a builtin sets, and what it evaluates; of any other command, what a function of that name would get. */
function observeBuiltin(
  name: string,
  args: readonly CommandArgument[],
  redirects: readonly Redirection[],
  data: LineData,
): void {
  const words = args.filter((argument) => argument.type === 'Word')
  switch (name) {
    case 'let':
      for (const word of words) {
        data.evaluate(`let ${word.text}`, sourceOfWord(word))
        for (const [, assigned] of word.value.matchAll(
          /([A-Za-z_]\w*)(?:\[[^\]]*\])?\s*(?:\+\+|--|(?:[-+*/%&^|]|<<|>>)?=(?!=))/g,
        ))
          data.assign(assigned, SAFE, `let ${word.text}`)
      }
      break
    case 'test':
    case '[':
      observeTestBuiltin(words, data)
      break
    case 'unset':
      for (const word of words) evaluateName(word, `unset ${word.text}`, data)
      break
    case 'printf':
      observePrintf(words, data)
      break
    case 'read':
      setNames(operandsOf(words, 'adinNptu', 'a'), 'REPLY', inputOf(redirects), 'read', data)
      break
    case 'mapfile':
    case 'readarray':
      setNames(operandsOf(words, 'dnOsuCc'), 'MAPFILE', inputOf(redirects), name, data)
      break
    case 'getopts': {
      const source = joinSources([sourceOfArguments(args), { isUnsafe: false, names: new Set(['@']) }])
      setNames(words.slice(1, 2), undefined, source, name, data)
      data.assign('OPTARG', source, name)
      break
    }
    case 'wait':
      for (const [index, word] of words.entries())
        if (/^-\w*p/.test(words[index - 1]?.value ?? '')) setNames([word], undefined, SAFE, name, data)
      break
    case 'set':
      data.assign('@', sourceOfArguments(args), 'set')
      break
    case 'declare':
    case 'typeset':
    case 'local':
    case 'export':
    case 'readonly':
      observeDeclaration(name, args, data)
      break
    default:
      data.call(name, sourceOfArguments(args))
  }
}

/** `-v` and `-R` take the name of a variable; a word that is not known may be one of these, or become several. */
function observeTestBuiltin(words: readonly Word[], data: LineData) {
  for (const [index, word] of words.entries()) {
    const before = words[index - 1]
    const follows = before !== undefined && (/^-[vR]$/.test(before.value) || isUnknown(before))
    if (follows || isSplit(word)) data.evaluate(`test ${word.text}`, sourceOfSubscript(word))
  }
}

function observePrintf(words: readonly Word[], data: LineData) {
  const at = words.findIndex(({ value }) => /^-\w*v/.test(value))
  if (at === -1) return
  const attached = words[at]!.value.slice(words[at]!.value.indexOf('v') + 1)
  const target = attached === '' ? words[at + 1] : undefined
  const printed = words.slice(attached === '' ? at + 2 : at + 1)
  // Escapes can make any character.
  const source = printed.some(({ text }) => text.includes('\\')) ? UNSAFE : joinSources(printed.map(sourceOfWord))
  if (attached !== '') data.evaluate(`printf ${words[at]!.text}`, sourceOfWord({ ...words[at]!, value: attached }))
  if (attached !== '') data.assign(/^\w+/.exec(attached)?.[0], source, `printf -v ${attached}`)
  if (target !== undefined) setNames([target], undefined, source, 'printf -v', data)
}

/** `NAME=value` as a word of its own was read as an assignment before; here stand those with quotes around them. */
function observeDeclaration(command: string, args: readonly CommandArgument[], data: LineData) {
  const flags = args
    .flatMap(({ type, text }) => (type === 'Word' && /^[-+]\w/.test(text) ? text.slice(1) : []))
    .join('')
  const text = `${command} ${args.map((argument) => argument.text).join(' ')}`
  if (command !== 'export' && flags.includes('n')) data.declareReference(text)
  for (const argument of args) {
    if (argument.type === 'Word' && /^[-+]\w/.test(argument.text)) continue
    const name = argument.type === 'Assignment' ? argument.name : nameIn(argument)
    const isSet = argument.type === 'Word' && (name === undefined || argument.text.includes('='))
    if (isSet) data.assign(name, sourceOfWord(argument), text)
    if (name !== undefined && flags.includes('i')) data.declareInteger(name)
    // The text of an array is read again as bash reads an assignment.
    if (/[aA]/.test(flags) && argument.type === 'Word') data.evaluate(text, sourceOfWord(argument))
    if (argument.type === 'Word') evaluateSubscript(argument, text, data)
  }
}

/** The name that a word begins with, as far as it is written. */
function nameIn({ parts, value, text }: Word): string | undefined {
  const start = parts === undefined ? value : text.replace(/^["']/, '')
  return /^([A-Za-z_]\w*)(?:[[+=]|$)/.exec(parts === undefined ? start : start.replace(/["']$/, ''))?.[1]
}

/** Each word names a variable that gets a value. */
function setNames(
  words: readonly Word[],
  otherwise: string | undefined,
  source: Source,
  command: string,
  data: LineData,
) {
  for (const word of words) {
    const text = `${command} ${word.text}`
    data.assign(nameIn(word), source, text)
    evaluateName(word, text, data)
  }
  if (words.length === 0 && otherwise !== undefined) data.assign(otherwise, source, command)
}

function evaluateName(word: Word, text: string, data: LineData) {
  data.evaluate(text, sourceOfSubscript(word))
}

function evaluateSubscript(word: Word, text: string, data: LineData) {
  const bracket = word.text.indexOf('[')
  const equals = word.text.indexOf('=')
  if (bracket !== -1 && (equals === -1 || bracket < equals)) data.evaluate(text, sourceOfSubscript(word))
}

/** Words that are no options, nor values of these letters but of those that name a variable. */
function operandsOf(words: readonly Word[], withValue: string, naming = ''): readonly Word[] {
  const operands: Word[] = []
  for (let at = 0; at < words.length; at++) {
    const { value } = words[at]!
    const letter = /^-\w+$/.test(value) ? [...value.slice(1)].find((each) => withValue.includes(each)) : undefined
    if (letter === undefined) {
      if (!/^-\w/.test(value) && value !== '--') operands.push(words[at]!)
      continue
    }
    const isAttached = value.indexOf(letter) < value.length - 1
    if (!isAttached) at++
    const own = words[at]
    if (naming.includes(letter) && own !== undefined) operands.push(own)
  }
  return operands
}

/** What a builtin reads: the text that the line gives it, or anything. */
function inputOf(redirects: readonly Redirection[]): Source {
  const [input] = redirects
  return redirects.length === 1 && input?.type === 'HereString' && input.target ? sourceOfWord(input.target) : UNSAFE
}

function isUnknown({ parts }: Word): boolean {
  return parts?.some(({ type }) => !/Quoted$|Literal/.test(type)) ?? false
}

/** It may become several words: it has an expansion that is not quoted. */
function isSplit({ parts }: Word): boolean {
  return parts?.some(({ type }) => /Expansion/.test(type) && type !== 'ArithmeticExpansion') ?? false
}
