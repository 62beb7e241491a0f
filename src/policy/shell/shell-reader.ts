import { parse } from 'unbash'
import { compareOpinions } from './compare-opinions.ts'
import { describeWithin } from './describe-place.ts'
import { type CarriedDraft, findCarried } from './find-carried.ts'
import { findComplexity } from './find-complexity.ts'
import { LineData, SAFE, UNSAFE } from './line-data.ts'
import { type ShellWord, staticWord } from './read-word.ts'
import type { AskSecondParser, Doubt } from './reading.ts'
import { unwrap } from './unwrap.ts'
import { type Context, type FoundCommand, walkScript } from './walk-script.ts'

/** A command found in a line, and in what. */
export interface Draft extends FoundCommand, Context {
  /** All that it carries out was found, and is a draft of its own. */
  readonly isUnwrapped?: boolean
  /** What it would run if it were a wrapper. */
  readonly carried?: readonly CarriedDraft[]
}

const MOST_COMMANDS = 1_000
const MAX_CARRIED = 1_000
const MOST_WRAPPERS = 16
const MOST_UNREAD = 8
/** Of all texts of a line together: a text in a text is read again. */
const MOST_CHARACTERS = 131_072

/** Collects all commands of a line: those in its syntax tree, those they carry out, and those in the texts they run. */
export class ShellReader {
  readonly drafts: Draft[] = []
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
  readText(text: string, context: Context): void {
    this.#characters += text.length
    const complexity = this.#characters > MOST_CHARACTERS ? 'its texts are too long together' : findComplexity(text)
    if (complexity !== undefined) {
      this.unread(complexity)
      return
    }
    // Bash joins the lines first, the parser does not: what looks like a plain dollar is none.
    if (/\$\\+\n/.test(text)) this.unread('a line goes on right after a dollar sign')
    const names = new Set<number>()
    const walk = {
      command: (found: FoundCommand, inner: Context) => this.take(found, inner),
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
  take(found: FoundCommand, context: Context): void {
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
    if (context.through.length >= MOST_WRAPPERS) {
      this.unread(`it wraps commands more than ${MOST_WRAPPERS} deep`)
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
  #takeGuess(found: FoundCommand, context: Context): void {
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
    const isFull = this.drafts.length >= MOST_COMMANDS
    if (isFull) this.unread(`it has more than ${MOST_COMMANDS} commands`)
    return isFull
  }

  /** Says that the line could not be read with certainty. */
  unread(reason: string): void {
    if (this.doubts.length < MOST_UNREAD && !this.doubts.some((doubt) => doubt.reason === reason))
      this.doubts.push({ kind: 'unread', reason })
  }
}

/** It cannot carry a command, however often it is evaluated. */
function isPlain({ value }: ShellWord): boolean {
  return value !== undefined && !/[$`]/.test(value)
}

const AT_TOP: Context = { through: [], doubts: [] }

/** Words as one line for people. */
export function showWords(words: readonly ShellWord[]): string {
  return words.map(({ source }) => (/^[\w@%+=:,./~$"{}*?-]+$/.test(source) ? source : JSON.stringify(source))).join(' ')
}
