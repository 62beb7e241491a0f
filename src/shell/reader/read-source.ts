import type {
  ArithmeticExpression,
  Command,
  CommandArgument,
  CommandExpansionPart,
  ParameterExpansionPart,
  ParsedScript,
  SyntaxNode,
  Word,
  WordPart,
} from 'unbash'
import { joinSources, SAFE, type Source, UNSAFE } from './line-data.ts'
import { readWord } from './read-word.ts'

/** What a word may hold once it is expanded. */
export function sourceOfWord({ text, value, parts }: Pick<Word, 'text' | 'value' | 'parts'>): Source {
  return parts === undefined ? sourceOfText(`${text} ${value}`) : joinSources(parts.map(sourceOfPart))
}

/** What is evaluated in the name of a variable: what stands in its brackets, which a word that is not known may have. */
export function sourceOfSubscript(word: Word): Source {
  const isName = /^\w*$/.test(word.value) && !/[$`]/.test(word.text)
  return isName ? SAFE : sourceOfWord(word)
}

/** What an arithmetic expression may evaluate; one that was not understood may hold anything. */
export function sourceOfArithmetic(expression: ArithmeticExpression | undefined): Source {
  if (expression === undefined) return UNSAFE
  switch (expression.type) {
    case 'ArithmeticBinary':
      return joinSources([sourceOfArithmetic(expression.left), sourceOfArithmetic(expression.right)])
    case 'ArithmeticUnary':
      return sourceOfArithmetic(expression.operand)
    case 'ArithmeticTernary':
      return joinSources([expression.test, expression.consequent, expression.alternate].map(sourceOfArithmetic))
    case 'ArithmeticGroup':
      return sourceOfArithmetic(expression.expression)
    case 'ArithmeticCommandExpansion':
      return sourceOfOutput(expression.script)
    default: {
      const { value, parts } = expression
      if (parts !== undefined) return joinSources(parts.map(sourceOfPart))
      // Plain expansions are no parts here: `$x`.
      const plain = [...value.matchAll(PLAIN_EXPANSION)].map(([, name]) => sourceOfName(name!))
      const rest = value.replace(PLAIN_EXPANSION, ' ')
      return joinSources([...plain, sourceOfText(rest)])
    }
  }
}

/** Names that stand in a text for their values. */
export function sourceOfNames(text: string): Source {
  return { isUnsafe: false, names: new Set(text.match(/[A-Za-z_]\w*/g)) }
}

/** What several arguments of a command may hold. */
export function sourceOfArguments(args: readonly CommandArgument[]): Source {
  return joinSources(
    args.map((argument) => (argument.type === 'Word' ? sourceOfWord(argument) : sourceOfAssigned(argument))),
  )
}

/** What the value of an assignment may hold. */
export function sourceOfAssigned({ value }: Extract<CommandArgument, { type: 'Assignment' }>): Source {
  return value.type === 'Word' ? sourceOfWord(value) : joinSources(value.elements.map(sourceOfWord))
}

/** `$1x` is the first parameter and an x. */
const PLAIN_EXPANSION = /\$(\d|[A-Za-z_]\w*|[?#$!@*-])/g

/** A name in it stands for a value where bash takes the text for arithmetic: `w=v; echo $((w))` evaluates what v holds. */
function sourceOfText(text: string): Source {
  return { isUnsafe: /[$`]/.test(text), names: sourceOfNames(text).names }
}

/** The value of a variable or a parameter. */
export function sourceOfName(name: string): Source {
  if (/^[?#$!-]$/.test(name)) return SAFE
  return { isUnsafe: false, names: new Set([/^(?:[1-9]\d*|[@*])$/.test(name) ? '@' : name]) }
}

function sourceOfPart(part: WordPart): Source {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return sourceOfText(part.value)
    case 'DoubleQuoted':
    case 'LocaleString':
      return joinSources(part.parts.map(sourceOfPart))
    case 'SimpleExpansion':
      return sourceOfName(part.text.slice(1))
    case 'ParameterExpansion':
      return sourceOfParameter(part)
    case 'CommandExpansion':
      return sourceOfExpansion(part)
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      return SAFE
    case 'BraceExpansion':
      return joinSources([sourceOfText(part.text), ...(part.parts ?? []).map(sourceOfPart)])
    default:
      // Names of files may hold anything; a bracket is also what a subscript looks like.
      return part.type === 'Glob' && part.kind === 'bracket'
        ? joinSources([sourceOfNames(part.text), ...part.parts.map(sourceOfPart)])
        : UNSAFE
  }
}

function sourceOfParameter({ prefix, parameter, operation }: ParameterExpansionPart): Source {
  if (prefix === '#') return SAFE
  if (prefix === '!') return UNSAFE
  const own = sourceOfName(parameter)
  switch (operation?.type) {
    case 'Default':
      return joinSources([own, sourceOfWord(operation.operand)])
    case 'Replace':
      return joinSources([own, sourceOfWord(operation.replacement)])
    case 'Transform':
      return /^[UuLa]$/.test(operation.operand.text) ? own : UNSAFE
    case 'Unknown':
      return UNSAFE
    default:
      return own
  }
}

function sourceOfExpansion({ script }: CommandExpansionPart): Source {
  return sourceOfOutput(script)
}

/** What a command prints: anything, but for programs that only count or repeat their words. */
function sourceOfOutput(script: ParsedScript | undefined): Source {
  const [statement, ...more] = script?.commands ?? []
  const last = more.length === 0 ? lastOf(statement?.command) : undefined
  const name = last?.name?.value
  if (last === undefined || name === undefined || last.prefix.length > 0) return UNSAFE
  const words = last.args.flatMap((argument) => (argument.type === 'Word' ? readWord(argument) : []))
  const values = words.map(({ value }) => value ?? '')
  const isPrinter = PRINTERS.get(name)?.(values) ?? false
  const isStatic = words.every(({ value }) => value !== undefined && !/[$`\\]/.test(value))
  if (name === 'echo') return joinSources([joinSources(last.args.map(sourceOfEcho)), called(name)])
  if (name === 'seq' && !values.some((value) => /^-[^\d.]/.test(value)))
    return joinSources([sourceOfArguments(last.args), called(name)])
  return isPrinter && isStatic ? called(name) : UNSAFE
}

function lastOf(node: SyntaxNode | undefined): Command | undefined {
  const last = node?.type === 'Pipeline' ? node.commands.at(-1) : node
  return last?.type === 'Command' ? last : undefined
}

/** With `-e`, a backslash can make any character. */
function sourceOfEcho(argument: CommandArgument): Source {
  return argument.type === 'Word' && !argument.text.includes('\\') ? sourceOfWord(argument) : UNSAFE
}

/** Unless a function of the line has the name. */
function called(name: string): Source {
  return { isUnsafe: false, names: new Set([`${name}()`]) }
}

/** Programs that print numbers and words of their own, by the words they are given. */
const PRINTERS: ReadonlyMap<string, (words: readonly string[]) => boolean> = new Map<
  string,
  (words: readonly string[]) => boolean
>([
  ...['wc', 'nproc', 'date', 'uname', 'arch', 'pgrep', 'bc', 'getconf', 'tput'].map((name): [string, () => boolean] => [
    name,
    () => true,
  ]),
  ['id', (words) => /^-[ug]$/.test(words[0] ?? '')],
  ['grep', (words) => words.some((word) => /^-\w*c|^--count$/.test(word))],
  ['stat', ([option, format = '']) => option === '-c' && /^%[sYXZaugih]$/.test(format)],
  ['git', (words) => words[0] === 'rev-list' && words[1] === '--count'],
])
