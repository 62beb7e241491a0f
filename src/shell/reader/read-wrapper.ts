import type { Wrapper } from '../wrappers.ts'
import { isCodeVariable } from './line-data.ts'
import { type ShellWord, staticWord } from './read-word.ts'
import type { Wrapped } from './unwrap.ts'

/** What a wrapper runs, by its description. */
export function readWrapper(words: readonly ShellWord[], wrapper: Wrapper): Wrapped {
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
export function joinWords(words: readonly ShellWord[]): ShellWord {
  const source = words.map((word) => word.source).join(' ')
  return words.every((word) => word.value !== undefined) ? staticWord(source) : { value: undefined, source }
}

interface OwnWords {
  /** The first option that is not listed, or that is only known at run time. */
  readonly unlisted?: string
  /** Values that are text for a shell. */
  readonly texts: readonly ShellWord[]
  /** Its options with their values. */
  readonly given: Given
  /** The first variable that it sets. */
  readonly assigned?: string
  /** The first one that says which code runs. */
  readonly codeVariable?: string
  readonly rest: readonly ShellWord[]
}

type Given = ReadonlyMap<string, ShellWord | undefined>

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

function joinsWords({ joins }: Wrapper, given: Given): boolean {
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
function withUnknownWords(words: readonly ShellWord[], given: Given): readonly ShellWord[] {
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
