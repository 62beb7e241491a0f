import { posix } from 'node:path'
import type { AndOr, Assignment, Command, Redirection, SyntaxNode, Word, WordPart } from 'unbash'
import { baseName } from '../loose-words.ts'
import { type Doubt, reach } from '../reading.ts'

/** The name of a command and its arguments. */
export function readCommandWords({ name, args }: Command): readonly ShellWord[] {
  const written = name ? [name, ...args] : args
  return written.flatMap((word) => (word.type === 'Word' ? readWord(word) : readAssignment(word)))
}

/** `A=b` among the arguments of `export`. */
function readAssignment({ name, value, append, text }: Assignment): ShellWord {
  const word = value.type === 'Word' ? readWord(value) : []
  const only = word.length === 1 ? word[0]!.value : undefined
  return only === undefined ? { value: undefined, source: text } : staticWord(`${name}${append ? '+' : ''}=${only}`)
}

/** What a redirection does besides joining descriptors. */
interface ReadRedirection {
  readonly doubt?: Doubt
  /** A file that is opened for reading. */
  readonly reads?: ShellWord
  /** What the command reads, where the line holds it. */
  readonly input?: ShellWord
  readonly unread?: string
}

/** Only /dev/null and other descriptors are free to write to. */
export function readRedirection(redirection: Redirection): ReadRedirection {
  if (redirection.type === 'HereDoc') {
    const { body, delimiter, closing } = redirection
    const isStatic = delimiter?.quoted === true || body.parts?.every(({ type }) => type === 'Literal') !== false
    return {
      unread: closing === undefined || delimiter === undefined ? 'its here-document has no end' : undefined,
      input: isStatic ? staticWord(body.text) : { value: undefined, source: body.text },
      doubt: isStatic ? undefined : reach('what its here-document holds is only known when it runs'),
    }
  }
  const { target, operator, descriptor } = redirection
  if (target === undefined) return { unread: 'a redirection has no target' }
  const word = readTarget(target)
  if (redirection.type === 'HereString') {
    const isStatic = word.value !== undefined
    return { input: word, doubt: isStatic ? undefined : reach('what its here-string holds is only known when it runs') }
  }
  if (descriptor?.type === 'FileDescriptorVariable') return { doubt: reach(`it sets ${descriptor.name}`) }
  if (operator === '<') return { reads: word }
  if ((operator === '>&' || operator === '<&') && /^(\d+-?|-)$/.test(word.value ?? '')) return {}
  return word.value === '/dev/null' ? {} : { doubt: reach(`it writes to ${word.source}`) }
}

/** A target that expands to several words is unknown. */
function readTarget(target: Word): ShellWord {
  const words = readWord(target)
  return words.length === 1 ? words[0]! : { value: undefined, source: target.text }
}

/** What a command does to the folder that the shell is in. */
type Move = 'none' | 'unknown' | { readonly to: string }

/** Reads `cd`; home, back, along the directory stack, and what is only known at run time is unknown. */
export function readMove(words: readonly ShellWord[]): Move {
  const [name, ...rest] = words
  if (name?.value === undefined) return words.length === 0 ? 'none' : 'unknown'
  const base = baseName(name.value)
  if (base !== 'cd' && base !== 'pushd' && base !== 'popd') return 'none'
  const [target, ...more] = rest.filter(({ value }) => value !== '--')
  const to = target?.value
  if (base === 'popd' || more.length > 0 || to === undefined || /^[-+~]|^$/.test(to)) return 'unknown'
  return { to }
}

/**
 * For each member of a list the folder that it runs in, relative to where the list begins: behind `cd x &&` a command runs
 * in x or not at all. Undefined where nothing moved it for certain.
 */
export function followMoves({ commands, operators }: AndOr): readonly (string | undefined)[] {
  let folder: string | undefined
  let isCertain = true
  return commands.map((command, index) => {
    isCertain &&= index === 0 || operators[index - 1] === '&&'
    const here = isCertain ? folder : undefined
    const move = moveOf(command)
    isCertain &&= move !== 'unknown'
    if (typeof move === 'object') folder = posix.isAbsolute(move.to) ? move.to : posix.join(folder ?? '', move.to)
    return here
  })
}

/** A pipe has shells of its own; what else is not a simple command may move the shell in ways that are not followed. */
function moveOf(node: SyntaxNode) {
  if (node.type === 'Pipeline' && node.commands.length > 1) return 'none'
  return node.type === 'Command' ? readMove(readCommandWords(node)) : 'unknown'
}

const MAX_WORDS = 64

const MAX_NUMBER_LENGTH = 9

/** One word of a command, after quotes and braces are gone. */
export interface ShellWord {
  /** `undefined` if it is only known at run time. */
  readonly value: string | undefined
  /** To be shown or read again as text: expansions stand in it as they are written. */
  readonly source: string
  /** It stands for file names: what they look like. */
  readonly glob?: string
  /** What it probably is, where bash has rules of its own that should not be relied on. */
  readonly guess?: string
}

/** The words that one written word becomes; a word that cannot be expanded counts as one. */
export function readWord({ parts, text, value }: Word): readonly ShellWord[] {
  const mayHaveBraces = text.includes('{') && /[,.]/.test(text)
  if (parts === undefined && !mayHaveBraces) return [staticWord(value)]
  const atoms = parts === undefined ? bareAtoms(text) : parts.flatMap(atomsOf)
  const braces = mayHaveBraces ? judgeBraces(text, atoms) : 'none'
  if (braces === 'none') return [joinAtoms(atoms, value)]
  const words = expandBraces(atoms)
  if (words === undefined) return [{ value: undefined, source: value }]
  // Nothing remains of an empty word without quotes.
  const read = words
    .filter((each) => each.length > 0)
    .map((each) => joinAtoms(each, words.length === 1 ? value : undefined))
  return braces === 'plain' ? read : read.map(asGuess)
}

/** A word that is what it says. */
export function staticWord(value: string): ShellWord {
  return { value, source: value }
}

/** Lists and ranges next to each other, of characters that mean nothing else. */
const PLAIN_BRACES =
  /^(?:[\w./@:+=%*?-]|\{[\w./@:+=%*?-]*(?:,[\w./@:+=%*?-]*)+\}|\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}|\{[a-z]\.\.[a-z]\}|\{[A-Z]\.\.[A-Z]\})*$/

/** What bash makes of braces with quotes, dots or other braces in them is more than its manual says: that is odd. */
function judgeBraces(text: string, atoms: readonly Atom[]): 'none' | 'plain' | 'odd' {
  const bareText = atoms.map((atom) => (atom.isBare ? atom.text : ' ')).join('')
  // `{}` and `@{u}` are no lists; any other brace may look for its other half, even in quotes.
  if (!/[{}]/.test(bareText.replace(/\{[\w-]*\}/g, ''))) return 'none'
  return PLAIN_BRACES.test(text) ? 'plain' : 'odd'
}

function joinAtoms(atoms: readonly Atom[], source: string | undefined): ShellWord {
  const text = atoms.map((atom) => atom.text ?? '$_').join('')
  if (atoms.some((atom) => atom.text === undefined)) return { value: undefined, source: source ?? text }
  if (atoms.some((atom) => atom.isGlob)) return { value: undefined, source: source ?? text, glob: text }
  return atoms.some((atom) => atom.isGuess)
    ? { value: undefined, source: source ?? text, guess: text }
    : staticWord(text)
}

function asGuess({ value, source, guess = value }: ShellWord): ShellWord {
  return { value: undefined, source, guess }
}

function atomsOf(part: WordPart): Atom[] {
  switch (part.type) {
    case 'Literal':
      return bareAtoms(part.text)
    case 'Glob':
      return [{ text: part.text, isBare: false, isGlob: true }]
    case 'SingleQuoted':
      return [quoted(part.value)]
    case 'AnsiCQuoted':
      return [{ ...quoted(part.value), isGuess: !PLAIN_ESCAPES.test(part.text) }]
    case 'DoubleQuoted':
    case 'LocaleString':
      return [quoted(''), ...part.parts.map((child) => (child.type === 'Literal' ? quoted(child.value) : UNKNOWN))]
    case 'BraceExpansion':
      return (
        part.parts === undefined ? bareAtoms(part.text) : [bare('{'), ...part.parts.flatMap(atomsOf), bare('}')]
      ).map(asGlob)
    default:
      return [UNKNOWN]
  }
}

const UNKNOWN: Atom = { text: undefined, isBare: false }

/** `$'…'` with escapes that mean the same in every version of bash and every locale. */
const PLAIN_ESCAPES =
  /^\$'(?:[^\\]|\\[\\'"?abeEfnrtv]|\\[01]?[0-7]{1,2}(?![0-7])|\\x[0-7]?[0-9a-fA-F](?![0-9a-fA-F])|\\u00[0-7][0-9a-fA-F])*'$/

/** Unquoted text: a backslash quotes what follows it, and takes a line break away. */
function bareAtoms(text: string): Atom[] {
  const atoms: Atom[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character !== '\\' || at + 1 === text.length) {
      atoms.push(bare(character))
      continue
    }
    at++
    if (text[at] !== '\n') atoms.push(quoted(text[at]!))
  }
  return atoms
}

/** The parser does not look for globs inside braces. */
function asGlob(atom: Atom): Atom {
  return atom.isBare && /^[*?[]$/.test(atom.text ?? '') ? { ...atom, isGlob: true } : atom
}

function bare(text: string): Atom {
  return { text, isBare: true }
}

function quoted(text: string): Atom {
  return { text, isBare: false }
}

/** A character of a word, or something that is only known at run time. */
interface Atom {
  /** `undefined` if it is only known at run time. */
  readonly text: string | undefined
  /** It was not quoted: `{`, `,` and `}` mean braces. */
  readonly isBare: boolean
  /** It stands for file names. */
  readonly isGlob?: boolean
  /** Nobody should rely on it. */
  readonly isGuess?: boolean
}

/** Braces as bash expands them, `a{b,c}` to `ab` and `ac`; undefined where that would be too many words. */
function expandBraces(atoms: readonly Atom[]): readonly (readonly Atom[])[] | undefined {
  for (let open = 0; open < atoms.length; open++) {
    if (!isBare(atoms[open], '{')) continue
    const choices = choicesAt(atoms, open)
    if (choices === undefined) continue
    return combine(atoms.slice(0, open), choices.items, atoms.slice(choices.end + 1))
  }
  return [atoms]
}

interface Choices {
  readonly items: readonly (readonly Atom[])[]
  /** Where the closing brace stands. */
  readonly end: number
}

function combine(
  before: readonly Atom[],
  items: readonly (readonly Atom[])[],
  after: readonly Atom[],
): readonly (readonly Atom[])[] | undefined {
  const tails = expandBraces(after)
  if (tails === undefined || items.length * tails.length > MAX_WORDS) return undefined
  const words: (readonly Atom[])[] = []
  for (const item of items) {
    const middles = expandBraces(item)
    if (middles === undefined || words.length + middles.length * tails.length > MAX_WORDS) return undefined
    for (const middle of middles) for (const tail of tails) words.push([...before, ...middle, ...tail])
  }
  return words
}

/** What stands between this brace and its closing one, when that is a list or a range. */
function choicesAt(atoms: readonly Atom[], open: number): Choices | undefined {
  let depth = 0
  let from = open + 1
  const items: (readonly Atom[])[] = []
  for (let at = open; at < atoms.length; at++) {
    if (isBare(atoms[at], '{')) depth++
    if (isBare(atoms[at], ',') && depth === 1) {
      items.push(atoms.slice(from, at))
      from = at + 1
    }
    if (!isBare(atoms[at], '}') || --depth > 0) continue
    const last = atoms.slice(from, at)
    const list = items.length > 0 ? [...items, last] : rangeOf(last)
    return list && { items: list, end: at }
  }
  return undefined
}

function rangeOf(atoms: readonly Atom[]): (readonly Atom[])[] | undefined {
  const text = atoms.every((atom) => atom.isBare && atom.text !== undefined)
    ? atoms.map((atom) => atom.text).join('')
    : ''
  const match = /^(?:(-?\d+)\.\.(-?\d+)|([a-zA-Z])\.\.([a-zA-Z]))(?:\.\.(-?\d+))?$/.exec(text)
  if (match === null) return undefined
  const [, low, high, first, last, step] = match
  const isLetters = first !== undefined
  const from = isLetters ? first.charCodeAt(0) : Number(low)
  const to = isLetters ? last!.charCodeAt(0) : Number(high)
  const by = Math.abs(Number(step ?? 1)) || 1
  const count = Math.floor(Math.abs(to - from) / by) + 1
  // More than can be looked at, or than bash may count to: an unknown word, which `combine` gives up on.
  if (count > MAX_WORDS || [low, high, step].some((number = '') => number.length > MAX_NUMBER_LENGTH))
    return Array.from({ length: MAX_WORDS + 1 }, () => [])
  const width = isLetters ? 0 : widthOf(low!, high!)
  return Array.from({ length: count }, (_, index) => {
    const value = from + (to < from ? -1 : 1) * by * index
    const word = isLetters ? String.fromCharCode(value) : pad(value, width)
    return [...word].map((character) => ({ text: character, isBare: false }))
  })
}

/** `{01..10}` keeps its zeros. */
function widthOf(...ends: string[]): number {
  return ends.some((end) => /^-?0\d/.test(end)) ? Math.max(...ends.map((end) => end.length)) : 0
}

function pad(value: number, width: number): string {
  const sign = value < 0 ? '-' : ''
  return sign + String(Math.abs(value)).padStart(width - sign.length, '0')
}

function isBare(atom: Atom | undefined, text: string): boolean {
  return atom?.isBare === true && atom.text === text
}
