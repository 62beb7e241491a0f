import { baseName } from '../loose-words.ts'
import { SHELLS, WRAPPERS, type Wrapper } from '../wrappers.ts'
import { isCodeVariable } from './line-data.ts'
import { type ShellWord, staticWord } from './read-command.ts'

/** What a command runs besides itself. */
export interface Wrapped {
  /** Commands that stand among its words. */
  readonly commands: readonly (readonly ShellWord[])[]
  /** Texts that a shell reads. */
  readonly texts: readonly ShellWord[]
  /** Why more may run than these. */
  readonly hidden?: string
  /** What it changes for them. */
  readonly reach?: string
}

const NOTHING: Wrapped = { commands: [], texts: [] }

const OTHERS: ReadonlyMap<string, (words: readonly ShellWord[]) => Wrapped> = new Map([
  ['eval', (words) => asText(operandsOf(words))],
  ['trap', readTrap],
  ['alias', (words) => asTexts(operandsOf(words).map(afterEquals))],
  ['find', readFind],
  ['gfind', readFind],
  ['fd', readFd],
  ['fdfind', readFd],
  // These evaluate subscripts: `unset 'a[$(id)]'` runs id.
  ...[
    'let',
    'test',
    '[',
    'unset',
    'printf',
    'read',
    'declare',
    'typeset',
    'local',
    'export',
    'readonly',
    'wait',
    'getopts',
  ].map((name): [string, typeof readTrap] => [name, readSubscripts]),
])
/** A dollar sign or a backtick in a word with a bracket: what stands between brackets is expanded once more. */
const EXPANDED_TWICE = /[[(].*[$`]|[$`].*[[(]/s
/** Each may stand inside of the one before. */
const MAX_EXECUTED = 32
const TOO_MANY = `it runs more than ${MAX_EXECUTED} commands`
const EXECUTE = /^-(exec|execdir|ok|okdir)$/
/** Options of shells that take a word of their own. */
const SHELL_VALUES = /^--(rcfile|init-file|init-command)$/

/** Finds the commands that a command only carries out; `input` is what it reads, where the line holds it. */
export function unwrap(words: readonly ShellWord[], input?: ShellWord): Wrapped {
  const name = words[0]?.value
  if (name === undefined) return NOTHING
  const base = baseName(name)
  const wrapper = WRAPPERS.get(base)
  if (wrapper) return readWrapper(words, wrapper)
  if (SHELLS.has(base)) return readShell(words, input)
  return OTHERS.get(base)?.(words) ?? NOTHING
}

/** Says whether it is known of a name what a command of that name carries out. */
export function isUnwrappable(name: string): boolean {
  const base = baseName(name)
  return WRAPPERS.has(base) || SHELLS.has(base) || OTHERS.has(base)
}

function asText(words: readonly ShellWord[]): Wrapped {
  return words.length === 0 ? NOTHING : asTexts([joinWords(words)])
}

function asTexts(texts: readonly ShellWord[]): Wrapped {
  return { texts: texts.filter(({ source }) => source !== ''), commands: [] }
}

/** Without the options of a builtin. */
function operandsOf(words: readonly ShellWord[]): readonly ShellWord[] {
  const first = words.findIndex(({ value }, index) => index > 0 && !(value !== undefined && /^-[a-z-]/.test(value)))
  return first === -1 ? [] : words.slice(first)
}

/** `trap action signal…`; with one word alone, or `-`, it only resets. */
function readTrap(words: readonly ShellWord[]): Wrapped {
  const [action, ...signals] = operandsOf(words)
  return action === undefined || signals.length === 0 || action.value === '-' ? NOTHING : asTexts([action])
}

function afterEquals({ value, source }: ShellWord): ShellWord {
  const text = source.slice(source.indexOf('=') + 1)
  return value === undefined ? { value, source: text } : staticWord(text)
}

function readSubscripts(words: readonly ShellWord[]): Wrapped {
  const risky = words.filter(({ value }, index) => {
    if (value === undefined) return false
    // Of printf only the name of the variable is one.
    const isName =
      baseName(words[0]!.value!) !== 'printf' ||
      [words[index - 1]?.value, value].some((each) => /^-\w*v/.test(each ?? ''))
    return isName ? EXPANDED_TWICE.test(value) : /\[.*(\$\(|`)/s.test(value)
  })
  const name = words.map(({ source }) => /^(\w+)\+?=/.exec(source)?.[1] ?? '').find(isCodeVariable)
  return {
    ...asTexts(risky.map(({ source }) => ({ value: undefined, source: `: ${source}` }))),
    hidden: name && `it sets ${name}`,
  }
}

/**
 * Each `-exec` up to its `;` or `+`; `{}` stands for names that are only known at run time. One that stands inside of another
 * is read by itself too: the first may be the value of `-name`.
 */
function readFind(words: readonly ShellWord[]): Wrapped {
  const commands: ShellWord[][] = []
  const last = words.findLastIndex((word, index) => endsCommand(word, words[index - 1]))
  for (const [at, { value, glob }] of words.entries()) {
    if (at === 0) continue
    // A word that is only known at run time may be `-exec` where a command ends after it.
    const isUnknown = value === undefined && glob === undefined
    if (!isUnknown && !EXECUTE.test(value ?? '')) continue
    if (isUnknown && last <= at) continue
    const end = words.findIndex((word, index) => index > at && endsCommand(word, words[index - 1]))
    const command = words.slice(at + 1, end === -1 ? words.length : end)
    if (command.length > 0) commands.push(command.map(fillBraces))
    if (commands.length > MAX_EXECUTED) return { commands: [], texts: [], hidden: TOO_MANY }
  }
  return { commands, texts: [] }
}

/** What follows `-x` or `-X`, also at the end of a cluster, is a command with names added to it. */
function readFd(words: readonly ShellWord[]): Wrapped {
  const commands: ShellWord[][] = []
  for (const [at, { value, glob }] of words.entries()) {
    if (at === 0 || (value === undefined && glob !== undefined)) continue
    const match = /^(?:-\w*?[xX]|--exec(?:-batch)?(?:=|$))(.*)/s.exec(value ?? '-x')
    if (match === null) continue
    const attached = match[1] === '' ? [] : [staticWord(match[1]!)]
    const end = words.findIndex((word, index) => index > at && word.value === ';')
    const command = [...attached, ...words.slice(at + 1, end === -1 ? words.length : end)].map(fillBraces)
    if (command.length > 0) commands.push([...command, { value: undefined, source: '{}' }])
    if (commands.length > MAX_EXECUTED) return { commands: [], texts: [], hidden: TOO_MANY }
  }
  return { commands, texts: [] }
}

function endsCommand({ value }: ShellWord, before: ShellWord | undefined): boolean {
  return value === ';' || (value === '+' && before?.source === '{}')
}

function fillBraces(word: ShellWord): ShellWord {
  return word.value?.includes('{}') ? { value: undefined, source: word.source } : word
}

function readShell(words: readonly ShellWord[], input: ShellWord | undefined): Wrapped {
  let isText = false
  let isInput = false
  let isAmbiguous = false
  let at = 1
  for (; at < words.length; at++) {
    const { value, source } = words[at]!
    if (value === undefined && isText) break
    if (value === undefined) return { ...NOTHING, hidden: `whether ${source} is an option or a script is not known` }
    if (value === '-' || value === '--') {
      at++
      break
    }
    if (SHELL_VALUES.test(value)) return { ...NOTHING, hidden: `${value} names a script that it runs` }
    if (!/^[-+]./.test(value)) break
    if (value.startsWith('--')) continue
    isText ||= value.includes('c')
    isInput ||= value.includes('s')
    // Bash takes one further word for each of these letters; other shells take the rest of the cluster instead.
    at += value.replace(/[^oO]/g, '').length
    isAmbiguous ||= /[oO]./.test(value)
  }
  const operand = words[at]
  if (isText && isAmbiguous) return { texts: words.slice(2), commands: [] }
  if (isText) return operand ? { texts: [operand], commands: [] } : NOTHING
  if (operand && !isInput) return { ...NOTHING, hidden: 'it runs a script' }
  if (input) return { texts: [input], commands: [] }
  return { ...NOTHING, hidden: 'it runs what comes in on its standard input' }
}

/** What a wrapper runs, by its description. */
function readWrapper(words: readonly ShellWord[], wrapper: Wrapper): Wrapped {
  if (!wrapper.mayLackOperands) return readOneWay(words, wrapper)
  const { texts, commands, ...doubts } = readOneWay(words, wrapper)
  const bare = readOneWay(words, { ...wrapper, operands: 0 })
  return { texts: [...texts, ...bare.texts], commands: [...commands, ...bare.commands], ...doubts }
}

function readOneWay(words: readonly ShellWord[], wrapper: Wrapper): Wrapped {
  const own = skipOwnWords(words, wrapper)
  const { unlisted, texts, given, rest } = own
  const hidden =
    own.codeVariable === undefined
      ? unlisted && `what ${words[0]!.source} makes of ${unlisted} is not known`
      : `it sets ${own.codeVariable}`
  const isIdle = wrapper.idle?.some((option) => given.has(option))
  const doubts = { hidden, reach: reachOf(own) }
  if (isIdle || (rest.length === 0 && texts.length === 0)) return { texts: [], commands: [], ...doubts }
  const command = wrapper.appends ? withUnknownWords(rest, given) : rest
  if (!joinsWords(wrapper, given)) return { texts, commands: command.length > 0 ? [command] : [], ...doubts }
  const text = texts.length > 0 ? [...texts, ...rest.map(quoteWord)] : command
  return { texts: [joinWords(text)], commands: [], ...doubts }
}

/** Words as one text: what is not known of them stands in it as it is written. */
function joinWords(words: readonly ShellWord[]): ShellWord {
  const source = words.map((word) => word.source).join(' ')
  return words.every((word) => word.value !== undefined) ? staticWord(source) : { value: undefined, source }
}

interface OwnWords {
  /** The first option that is not listed, or that is only known at run time. */
  readonly unlisted?: string
  /** Values that are text for a shell. */
  readonly texts: readonly ShellWord[]
  /** Its options with their values. */
  readonly given: OptionValues
  /** The first variable that it sets. */
  readonly assigned?: string
  /** The first one that says which code runs. */
  readonly codeVariable?: string
  readonly rest: readonly ShellWord[]
}

type OptionValues = ReadonlyMap<string, ShellWord | undefined>

/** Walks over the options, assignments and operands of the wrapper itself. */
function skipOwnWords(words: readonly ShellWord[], wrapper: Wrapper): OwnWords {
  const options = optionsOf(wrapper)
  const texts: ShellWord[] = []
  const given = new Map<string, ShellWord | undefined>()
  let unlisted: string | undefined
  let assigned: string | undefined
  let codeVariable: string | undefined
  let operands = wrapper.operands ?? 0
  let isOver = false
  let at = 1
  for (; at < words.length; at++) {
    const { value, source } = words[at]!
    if (!isOver && value !== undefined && /^-./s.test(value) && value !== '--') {
      const found = readOption(value, options)
      if (found.isUnlisted) unlisted ??= value
      const own = found.takes && (found.attached === undefined ? words[++at] : staticWord(found.attached))
      for (const option of found.names) given.set(option, own)
      if (found.takes === '!' && own) texts.push(own)
      if (found.names.some((option) => wrapper.noOperandsWith?.includes(option))) operands = 0
    } else if (value === '-' && wrapper.hasLoneDash) {
      given.set(value, undefined)
    } else if (value === '--' && !isOver) {
      isOver = true
    } else if (wrapper.hasAssignments && value !== undefined && /^[^=]+=/s.test(value)) {
      const variable = value.slice(0, value.indexOf('='))
      assigned ??= variable
      // A value with a substitution in it may run later: in arithmetic, as a prompt.
      if (isCodeVariable(variable) || /[$`]/.test(value.slice(variable.length))) codeVariable ??= variable
      isOver = true
    } else if (operands > 0) {
      operands--
      isOver ||= !wrapper.isMixed
    } else {
      // Nobody knows whether this is an option, the command, or nothing at all.
      if (value === undefined && !isOver) unlisted ??= source
      break
    }
  }
  return { unlisted, texts, given, assigned, codeVariable, rest: words.slice(at) }
}

function reachOf({ assigned, given }: OwnWords): string | undefined {
  if (assigned !== undefined) return `it sets ${assigned}`
  const elsewhere = ['--chdir', '--chroot', '--root', '--wd', '--working-directory'].find((option) => given.has(option))
  return elsewhere && `${elsewhere} moves where paths point`
}

function joinsWords({ joins }: Wrapper, given: OptionValues): boolean {
  return joins === true || (joins?.some((option) => given.has(option)) ?? false)
}

type Options = ReadonlyMap<string, '' | '=' | '!'>

const known = new WeakMap<Wrapper, Options>()

function optionsOf(wrapper: Wrapper): Options {
  const ready = known.get(wrapper)
  if (ready) return ready
  const options = new Map<string, '' | '=' | '!'>()
  for (const text of wrapper.options.split(' ').filter(Boolean)) {
    const kind = text.endsWith('=') ? '=' : text.endsWith('!') ? '!' : ''
    const name = kind === '' ? text : text.slice(0, -1)
    if (name.startsWith('--')) options.set(name, kind)
    else for (const letter of name.slice(1)) options.set(`-${letter}`, kind)
  }
  known.set(wrapper, options)
  return options
}

interface FoundOption {
  readonly names: readonly string[]
  readonly isUnlisted?: boolean
  /** It takes a value, of which kind. */
  readonly takes?: '=' | '!'
  /** The value, where it stands in the same word. */
  readonly attached?: string
}

function readOption(word: string, options: Options): FoundOption {
  if (word.startsWith('--')) return readLongOption(word, options)
  const names: string[] = []
  for (let at = 1; at < word.length; at++) {
    const name = `-${word[at]}`
    const kind = options.get(name)
    names.push(name)
    if (kind === undefined) return { names, isUnlisted: true }
    if (kind !== '') return { names, takes: kind, attached: word.slice(at + 1) || undefined }
  }
  return { names }
}

/** Long options may be cut short. */
function readLongOption(word: string, options: Options): FoundOption {
  const equals = word.indexOf('=')
  const name = equals === -1 ? word : word.slice(0, equals)
  const full = options.has(name) ? name : [...options.keys()].find((option) => option.startsWith(name))
  const kind = full === undefined ? undefined : options.get(full)
  if (full === undefined || kind === undefined) return { names: [name], isUnlisted: true }
  const attached = equals === -1 ? undefined : word.slice(equals + 1)
  return kind === '' ? { names: [full] } : { names: [full], takes: kind, attached }
}

/** `xargs -I x` puts what it reads where `x` stands, `parallel` has marks of its own; both else add words at the end. */
function withUnknownWords(words: readonly ShellWord[], given: OptionValues): readonly ShellWord[] {
  if (words.length === 0) return words
  const end = words.findIndex(({ value }) => value !== undefined && /^:{3,4}\+?$/.test(value))
  const own = end === -1 ? words : words.slice(0, end)
  const mark = given.get('-I')?.value ?? '{'
  const filled = own.map((word) => (word.source.includes(mark) ? { value: undefined, source: word.source } : word))
  return [...filled, { value: undefined, source: '"$@"' }]
}

function quoteWord(word: ShellWord): ShellWord {
  return word.value === undefined ? word : staticWord(`'${word.value.replaceAll("'", "'\\''")}'`)
}
