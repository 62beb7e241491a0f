/** Letters that mean the same to a program. */
const SAME_LETTERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['rm', ['rR']],
  ['cp', ['rR']],
  ['grep', ['rR']],
])

/** The long options that a letter usually stands for, where a program does not say otherwise. */
const LONG_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['a', ['all', 'archive']],
  ['d', ['delete', 'directory']],
  ['f', ['force']],
  ['i', ['interactive', 'in-place']],
  ['m', ['message']],
  ['n', ['dry-run']],
  ['o', ['output']],
  ['p', ['parents', 'print', 'publish']],
  ['q', ['quiet', 'silent']],
  ['r', ['recursive']],
  ['R', ['recursive']],
  ['u', ['user', 'update', 'set-upstream']],
  ['v', ['verbose']],
  ['y', ['yes', 'assume-yes']],
])

/** Programs with long options behind one dash: `-race` is one option, not four. */
const ONE_DASH = new Set(
  'go find java javac terraform tofu packer gcc g++ cc c++ clang clang++ ld openssl ffmpeg ffprobe convert magick dotnet'.split(
    ' ',
  ),
)

/** A command by what its words mean, whatever their order and spelling. */
export interface LooseWords {
  /** `undefined` if it is only known at run time. */
  readonly program: string | undefined
  /** Letters of short options. */
  readonly letters: ReadonlySet<string>
  /** Long options, without dashes, and with their value where it stands behind `=`. */
  readonly long: readonly string[]
  readonly operands: readonly LooseOperand[]
  /** Some of its words are only known at run time. */
  readonly hasUnknown: boolean
}

interface LooseOperand {
  readonly value: string | undefined
  /** It may be the value of the option before it. */
  readonly isAfterOption: boolean
}

/** Reads words loosely. */
export function readLoosely(words: readonly (string | undefined)[]): LooseWords {
  const program = words[0] === undefined ? undefined : baseName(words[0])
  const isOneDash = program !== undefined && hasOneDash(program)
  const letters = new Set<string>()
  const long: string[] = []
  const operands: LooseOperand[] = []
  let isOver = false
  let isAfterOption = false
  for (const word of words.slice(1)) {
    if (isOver || word === undefined || !/^-./s.test(word)) {
      operands.push({ value: word && sameOperand(program ?? '', word), isAfterOption })
      isAfterOption = false
      continue
    }
    isOver = word === '--'
    isAfterOption = !isOver && !/^--no-|=/.test(word)
    if (isOver) continue
    if (word.startsWith('--') || isOneDash) long.push(word.replace(/^--?/, ''))
    else for (const letter of word.slice(1)) letters.add(letter)
  }
  return { program, letters, long, operands, hasUnknown: words.includes(undefined) }
}

/** Says whether words mean what is wanted of them, with more options and operands than that when it is open. */
export function isLike(words: LooseWords, wanted: LooseWords, isOpen: boolean, couldBe: boolean): boolean {
  if (words.program !== wanted.program) return false
  const isAnything = couldBe && words.hasUnknown
  return (
    (isAnything || hasOptions(words, wanted, isOpen)) && hasOperands(words.operands, wanted.operands, isOpen, couldBe)
  )
}

/** Spelt otherwise, the same options are as many: `-rf` is `--recursive --force`. */
function hasOptions(words: LooseWords, wanted: LooseWords, isOpen: boolean): boolean {
  const program = wanted.program ?? ''
  if (!isOpen && words.letters.size + words.long.length > wanted.letters.size + wanted.long.length) return false
  return (
    [...wanted.letters].every((letter) => hasLetter(words, letter, program)) &&
    wanted.long.every((name) => hasLong(words, name, program))
  )
}

function hasLetter({ letters, long }: LooseWords, letter: string, program: string): boolean {
  const same = [...sameLetters(program, letter)]
  return same.some(
    (each) => letters.has(each) || longNamesOf(each).some((name) => long.some((word) => isCut(word, name))),
  )
}

function hasLong({ letters, long }: LooseWords, wanted: string, program: string): boolean {
  if (long.some((word) => word === wanted || isCut(word, wanted))) return true
  return [...letters].some((letter) =>
    [...sameLetters(program, letter)].some((each) => longNamesOf(each).includes(wanted)),
  )
}

/** Long options may be cut short: `--recurs`. A value is not part of the name. */
function isCut(word: string, name: string): boolean {
  const equals = word.indexOf('=')
  const own = equals === -1 ? word : word.slice(0, equals)
  return own !== '' && name.startsWith(own)
}

function hasOperands(
  operands: readonly LooseOperand[],
  wanted: readonly LooseOperand[],
  isOpen: boolean,
  couldBe: boolean,
  from = 0,
  count = 0,
): boolean {
  if (count === wanted.length)
    return isOpen || from === operands.length || (couldBe && operands[from]!.value === undefined)
  for (let at = from; at < operands.length; at++) {
    const { value, isAfterOption } = operands[at]!
    if (value === undefined && couldBe) return true
    if (value === wanted[count]!.value && hasOperands(operands, wanted, isOpen, couldBe, at + 1, count + 1)) return true
    if (!isAfterOption) return false
  }
  return false
}

/** Says whether options of a program stand behind one dash whole. */
function hasOneDash(program: string): boolean {
  return ONE_DASH.has(program)
}

/** All letters that mean what this one means. */
function sameLetters(program: string, letter: string): string {
  return SAME_LETTERS.get(program)?.find((letters) => letters.includes(letter)) ?? letter
}

/** The long options that a letter may stand for. */
function longNamesOf(letter: string): readonly string[] {
  return LONG_NAMES.get(letter) ?? []
}

/** The one spelling of an operand that has several: a file mode of chmod. */
function sameOperand(program: string, operand: string): string {
  return program === 'chmod' ? sameMode(operand) : operand
}

/** `0777`, `a=rwx`, `ugo+rwx` and `u=rwx,go=rwx` are `777`. */
function sameMode(mode: string): string {
  if (/^0*[0-7]{1,4}$/.test(mode)) return mode.replace(/^0+(?=.)/, '')
  const full = new Set<string>()
  for (const clause of mode.split(',')) {
    const match = /^([ugoa]+)[=+]([rwx]+)$/.exec(clause)
    if (match === null) return mode
    const [, who = '', what = ''] = match
    if (!['r', 'w', 'x'].every((bit) => what.includes(bit))) return mode
    for (const each of who.includes('a') ? 'ugo' : who) full.add(each)
  }
  return full.size === 3 ? '777' : mode
}

/** The name that a program goes by, whatever folder it is called from: `/bin/RM` is `rm`. */
export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).toLowerCase()
}
