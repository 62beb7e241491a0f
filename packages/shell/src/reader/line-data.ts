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
import { readWord } from './read-command.ts'

/** What a text of a line may hold: only one with a dollar sign or a backtick can carry a command. */
export interface Source {
  /** It may hold one whatever the variables hold: it is written there, or comes from outside of the line. */
  readonly isUnsafe: boolean
  /** Variables whose values it takes up. `@` stands for all positional parameters, `wc()` for a program that prints numbers. */
  readonly names: ReadonlySet<string>
}

/** Text that bash evaluates when it runs, and that may hold a command then. */
export interface Evaluation {
  /** As it is written. */
  readonly text: string
  readonly reason: string
}

export const SAFE: Source = { isUnsafe: false, names: new Set() }
export const UNSAFE: Source = { isUnsafe: true, names: new Set() }

/** Variables of the shell itself that hold names of files, words of the line, or what was read. */
const ALWAYS_UNSAFE =
  '_ 0 PWD OLDPWD DIRSTACK BASH_COMMAND BASH_EXECUTION_STRING BASH_ARGV BASH_ARGV0 BASH_SOURCE FUNCNAME'
/** A value that these are given is evaluated as arithmetic. */
const INTEGERS = 'RANDOM SRANDOM SECONDS LINENO HISTCMD OPTIND EPOCHSECONDS EPOCHREALTIME BASHPID BASH_SUBSHELL'
/** Variables that say which code runs, or that hold code: of shells, the loader, languages, git, pagers and editors. */
const CODE = new RegExp(
  `^(?:${[
    'PATH|CDPATH|FPATH|ENV|BASH_ENV|BASH_FUNC_.*|BASH_ALIASES|BASH_CMDS|BASH_LOADABLES_PATH|SHELLOPTS|BASHOPTS|SHELL|IFS',
    'PROMPT_COMMAND|PS[0-4]|MAILPATH|FCEDIT|INPUTRC|HOME|ZDOTDIR|XDG_CONFIG_.*|EXECIGNORE',
    'LD_.*|DYLD_.*|GCONV_PATH|GIT_.*|PAGER|.*_PAGER|MANPAGER|LESS|LESSOPEN|LESSCLOSE|.*EDITOR|VISUAL|BROWSER',
    'NODE_OPTIONS|NODE_PATH|npm_config_.*|PYTHON.*|PIP_.*|PERL5.*|PERLLIB|RUBY.*|GEM_.*|BUNDLE_.*|CLASSPATH|.*JAVA_.*OPTIONS',
    'GOFLAGS|GOROOT|GOTOOLCHAIN|RUSTC.*|CARGO_.*|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|.*_ASKPASS|.*_RSH|TAR_OPTIONS|WGETRC|CURL_HOME',
  ].join('|')})$`,
  'i',
)

/** All that several texts may hold. */
export function joinSources(sources: readonly Source[]): Source {
  return {
    isUnsafe: sources.some(({ isUnsafe }) => isUnsafe),
    names: new Set(sources.flatMap(({ names }) => [...names])),
  }
}

/**
 * Follows values through a line: from where they are written to where bash evaluates them a second time, as it does with
 * arithmetic, subscripts and prompts. The order of the commands does not count, as loops and functions change it.
 */
export class LineData {
  readonly #values = new Map<string, Source[]>()
  readonly #evaluated: { readonly text: string; readonly source: Source }[] = []
  readonly #calls: { readonly name: string; readonly source: Source }[] = []
  readonly #integers = new Set(INTEGERS.split(' '))
  readonly #certain: Evaluation[] = []

  /** A variable is set; `undefined` if which one is only known at run time. `isPlain`: by `NAME=value`, which is judged by itself. */
  assign(name: string | undefined, source: Source, text: string, isPlain = false): void {
    if (name === undefined) {
      this.#certain.push({ text, reason: 'which variable it sets is only known when it runs' })
      return
    }
    if (!isPlain && isCodeVariable(name)) this.#certain.push({ text, reason: `it sets ${name}` })
    const values = this.#values.get(name)
    if (values === undefined) this.#values.set(name, [source])
    else values.push(source)
  }

  /** Bash evaluates a text. */
  evaluate(text: string, source: Source): void {
    this.#evaluated.push({ text, source })
  }

  /** A command is called with words; if it is a function, these are its positional parameters. */
  call(name: string, source: Source): void {
    this.#calls.push({ name, source })
  }

  /** A variable whose values are evaluated as arithmetic. */
  declareInteger(name: string): void {
    this.#integers.add(name)
  }

  /** It may set any variable by another name. */
  declareReference(text: string): void {
    this.#certain.push({ text, reason: 'it gives a variable a second name' })
  }

  /** What may run a command when it is evaluated, once the whole line is read. */
  findEvaluations(functions: ReadonlySet<string>): readonly Evaluation[] {
    for (const { name, source } of this.#calls) if (functions.has(name)) this.assign('@', source, name)
    const unsafe = this.#unsafeNames(functions)
    const isUnsafe = ({ isUnsafe: own, names }: Source) => own || [...names].some((name) => unsafe.has(name))
    const found = this.#evaluated
      .filter(({ source }) => isUnsafe(source))
      .map(({ text }) => ({ text, reason: 'what it evaluates may hold a command' }))
    for (const name of this.#integers)
      if (this.#values.get(name)?.some(isUnsafe))
        found.push({ text: name, reason: 'the value that it is given is evaluated, and may hold a command' })
    return [...this.#certain, ...found]
  }

  /** Names whose values may hold a command: unsafe ones, and those that take up the value of one. */
  #unsafeNames(functions: ReadonlySet<string>): ReadonlySet<string> {
    const unsafe = new Set([...ALWAYS_UNSAFE.split(' '), ...[...functions].map((name) => `${name}()`)])
    const users = new Map<string, string[]>()
    const queue = [...unsafe]
    for (const [name, sources] of this.#values)
      for (const { isUnsafe, names } of sources) {
        if (isUnsafe) queue.push(name)
        for (const used of names) users.set(used, [...(users.get(used) ?? []), name])
      }
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      unsafe.add(name)
      for (const user of users.get(name) ?? []) if (!unsafe.has(user)) queue.push(user)
    }
    return unsafe
  }
}

/** Says whether a variable may make other code run than the words say. */
export function isCodeVariable(name: string): boolean {
  return CODE.test(name)
}

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
