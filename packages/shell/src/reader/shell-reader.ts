import { parse } from 'unbash'
import type { AskSecondParser, Doubt } from '../reading.ts'
import { LineData, SAFE, UNSAFE } from './line-data.ts'
import { findTable } from './programs/look-at-program.ts'
import { type ShellWord, staticWord } from './read-command.ts'
import { isUnwrappable, unwrap } from './unwrap.ts'
import { describeWithin, type FoundCommand, type ScriptContext, walkScript } from './walk-script.ts'

/** What a text may hold before reading it takes noticeable time: both parsers are quadratic in some of these. */
const LIMITS = [
  { what: 'here-documents', sign: /<</g, most: 50 },
  { what: 'backticks', sign: /`/g, most: 500 },
] as const

const MAX_LENGTH = 65_536

const MAX_BRACKETS = 1_000

const MAX_BRACKETS_DEPTH = 40

/** A command found in a line, and in what. */
export interface CommandDraft extends FoundCommand, ScriptContext {
  /** All that it carries out was found, and is a draft of its own. */
  readonly isUnwrapped?: boolean
  /** What it would run if it were a wrapper. */
  readonly carried?: readonly CarriedDraft[]
}

const MAX_COMMANDS = 1_000
const MAX_CARRIED = 1_000
const MAX_WRAPPERS = 16
const MAX_UNREAD = 8
/** Of all texts of a line together: a text in a text is read again. */
const MAX_CHARACTERS = 131_072

const AT_TOP: ScriptContext = { through: [], doubts: [] }
/** Words of one such command; further words are not examined. */
const MAX_WORDS = 32

/** Collects all commands of a line: those in its syntax tree, those they carry out, and those in the texts they run. */
export class ShellReader {
  readonly drafts: CommandDraft[] = []
  readonly doubts: Doubt[] = []
  readonly functions = new Set<string>()
  readonly data = new LineData()
  readonly #ask: AskSecondParser | undefined
  readonly #isCarried: boolean
  #characters = 0
  #carried = 0

  /** `isCarried`: what it reads may be no command at all. */
  constructor(ask: AskSecondParser | undefined, isCarried = false) {
    this.#ask = ask
    this.#isCarried = isCarried
  }

  /** Reads a text as bash would. */
  readText(text: string, context: ScriptContext): void {
    this.#characters += text.length
    const complexity = this.#characters > MAX_CHARACTERS ? 'its texts are too long together' : findComplexity(text)
    if (complexity !== undefined) {
      this.unread(complexity)
      return
    }
    // Bash joins the lines first, the parser does not: what looks like a plain dollar is none.
    if (/\$\\+\n/.test(text)) this.unread('a line continues right after a dollar sign')
    const names = new Set<number>()
    const walk = {
      command: (found: FoundCommand, inner: ScriptContext) => this.take(found, inner),
      name: (from: number) => names.add(from),
      function: (name: string) => this.functions.add(name),
      unread: (reason: string) => this.unread(reason),
      data: this.data,
      isFull: () => this.#isFull(),
    }
    try {
      walkScript(parse(text), text, context, walk)
    } catch {
      // The parser gave up, or the stack did: what was found until here stands, the rest is unread.
      this.unread('it is nested too deep or in a way the parser does not know')
    }
    // What is asked for anyway needs no second opinion.
    const disagreement = this.doubts.length > 0 ? undefined : compareOpinions(text, names, this.#ask)
    if (disagreement !== undefined) this.unread(disagreement)
  }

  /** Takes a command, and what it carries out. */
  take(found: FoundCommand, context: ScriptContext): void {
    if (this.#isFull()) return
    if (found.words.some(({ guess }) => guess !== undefined)) this.#takeGuess(found, context)
    const { commands, texts, hidden, reach } = unwrap(found.words, found.input)
    const doubts: Doubt[] = [...context.doubts, ...found.doubts]
    if (hidden !== undefined) doubts.push({ kind: 'hidden', reason: hidden })
    if (reach !== undefined) doubts.push({ kind: 'reach', reason: reach })
    const isStatic = texts.every(({ value }) => value !== undefined)
    if (!isStatic) doubts.push({ kind: 'hidden', reason: 'it runs a text that is only known when it runs' })
    const isWrapper = commands.length > 0 || texts.length > 0
    const isUnwrapped = isWrapper && isStatic && hidden === undefined
    const carried = isWrapper || this.#isCarried ? [] : this.#readCarried(found.words)
    this.drafts.push({ ...found, ...context, doubts, isUnwrapped, carried })
    if (!isWrapper) return
    if (context.through.length >= MAX_WRAPPERS) {
      this.unread(`it wraps commands more than ${MAX_WRAPPERS} deep`)
      return
    }
    const name = found.words[0]!.source
    const inner = { ...context, doubts: [...context.doubts, ...found.doubts], through: [...context.through, name] }
    for (const words of commands)
      this.take(
        { words, text: showWords(words), doubts: [], input: found.input },
        { ...inner, where: describeWithin(`behind \`${name}\``, context.where) },
      )
    // `sh -c text x y`: the words after a text are its positional parameters.
    const [first] = texts
    const at = first === undefined ? -1 : found.words.indexOf(first)
    if (at !== -1) this.data.assign('@', found.words.slice(at + 1).every(isPlain) ? SAFE : UNSAFE, name)
    for (const text of texts)
      this.readText(text.source, { ...inner, where: describeWithin(`in the text of \`${name}\``, context.where) })
  }

  /** What the words probably are: never allowed for it, but denied. */
  #takeGuess(found: FoundCommand, context: ScriptContext): void {
    const words = found.words.map((word) => (word.guess === undefined ? word : staticWord(word.guess)))
    const doubt: Doubt = { kind: 'hidden', reason: 'its words are only known when it runs' }
    this.take({ ...found, words, doubts: [...found.doubts, doubt] }, context)
  }

  #readCarried(words: readonly ShellWord[]): readonly CarriedDraft[] {
    const read = (start: (reader: ShellReader) => void) => {
      const reader = new ShellReader(undefined, true)
      start(reader)
      this.#carried += reader.drafts.length
      return reader.drafts
    }
    return findCarried(words, {
      words: (tail) => read((reader) => reader.take({ words: tail, text: showWords(tail), doubts: [] }, AT_TOP)),
      text: (text) => read((reader) => reader.readText(text, AT_TOP)),
      isFull: () => {
        const isFull = this.#carried >= MAX_CARRIED
        if (isFull) this.unread(`programs that are not known have more than ${MAX_CARRIED} words`)
        return isFull
      },
    })
  }

  #isFull(): boolean {
    const isFull = this.drafts.length >= MAX_COMMANDS
    if (isFull) this.unread(`it has more than ${MAX_COMMANDS} commands`)
    return isFull
  }

  /** Says that the line could not be read with certainty. */
  unread(reason: string): void {
    if (this.doubts.length < MAX_UNREAD && !this.doubts.some((doubt) => doubt.reason === reason))
      this.doubts.push({ kind: 'unread', reason })
  }
}

/** It cannot carry a command, however often it is evaluated. */
function isPlain({ value }: ShellWord): boolean {
  return value !== undefined && !/[$`]/.test(value)
}

/** Words as one line for people. */
export function showWords(words: readonly ShellWord[]): string {
  return words.map(({ source }) => (/^[\w@%+=:,./~$"{}*?-]+$/.test(source) ? source : JSON.stringify(source))).join(' ')
}

/** Why the second parser gives no certainty: it is missing, cannot parse the text, or sees a command that was not found. */
function compareOpinions(
  text: string,
  found: ReadonlySet<number>,
  ask: AskSecondParser | undefined,
): string | undefined {
  if (ask === undefined) return 'the second parser is not loaded'
  const { hasError, names } = ask(text)
  if (hasError) return 'the second parser cannot parse it'
  // It knows fewer places where commands stand than the first; only what it sees and the first does not is a doubt.
  const missed = names.find(({ from }) => !found.has(from))
  return missed && `the parsers disagree about ${JSON.stringify(text.slice(missed.from, missed.to))}`
}

/** Why a text is not read at all: it is too long, or would take too long. */
export function findComplexity(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return `it has ${text.length} characters, the most that are read are ${MAX_LENGTH}`
  for (const { what, sign, most } of LIMITS) {
    if (hasMore(text, sign, most)) return `it has more than ${most} ${what}`
  }
  return bracketsOf(text, '(', ')') ?? bracketsOf(text, '{', '}')
}

function hasMore(text: string, sign: RegExp, most: number): boolean {
  sign.lastIndex = 0
  for (let count = 0; count <= most; count++) if (sign.exec(text) === null) return false
  return true
}

/** Quotes are not looked at: a text with so many brackets is rare enough to ask for. */
function bracketsOf(text: string, open: string, close: string): string | undefined {
  let count = 0
  let depth = 0
  for (const character of text) {
    if (character === close && depth > 0) depth--
    if (character !== open) continue
    count++
    depth++
    if (depth > MAX_BRACKETS_DEPTH) return `it has ${open} more than ${MAX_BRACKETS_DEPTH} deep`
    if (count > MAX_BRACKETS) return `it has ${open} more than ${MAX_BRACKETS} times`
  }
  return undefined
}

/** A command that an unknown program may run. */
interface CarriedDraft {
  /** Index of the word that it begins at, or that holds it. */
  readonly at: number
  readonly draft: CommandDraft
}

/** Reads words, or a text for a shell, into commands. */
interface CarriedReader {
  words(words: readonly ShellWord[]): readonly CommandDraft[]
  text(text: string): readonly CommandDraft[]
  /** It has read as much as it takes. */
  isFull(): boolean
}

/**
 * The commands that stand among the words of a program of which nothing is known: it may be a wrapper that is not in the table.
 * Every word may be the first of a command (`chronic rm -rf x`), be a text for a shell (`hyperfine 'rm -rf x'`), or hold
 * either behind an option (`--run=rm`).
 */
function findCarried(words: readonly ShellWord[], read: CarriedReader): readonly CarriedDraft[] {
  const name = words[0]?.value
  if (name === undefined || !mayRunWords(name)) return []
  const found: CarriedDraft[] = []
  for (const [at, { value }] of words.entries()) {
    if (at === 0 || value === undefined) continue
    if (read.isFull()) break
    const rest = words.slice(at + 1, at + MAX_WORDS)
    if (at + MAX_WORDS < words.length) rest.push({ value: undefined, source: '…' })
    const add = (drafts: readonly CommandDraft[]) => found.push(...drafts.map((draft) => ({ at, draft })))
    for (const text of [value, /^--?[\w-]+=(.+)/s.exec(value)?.[1]]) {
      if (text === undefined || text === '') continue
      if (/[\s;&|]/.test(text)) add(read.text(text))
      else add(read.words([staticWord(text), ...rest]))
    }
  }
  return found
}

function mayRunWords(name: string): boolean {
  if (isUnwrappable(name)) return false
  return findTable(name)?.table.mayRunWords ?? findTable(name) === undefined
}
