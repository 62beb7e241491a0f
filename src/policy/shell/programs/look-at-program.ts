import { type CompiledTable, compileByName, type Option } from './compile-table.ts'
import { looksLikePath, pathWithin } from './guess-path.ts'
import type { Hazard, ProgramTable } from './program-table.ts'
import { type FoundOption, readArguments } from './read-arguments.ts'
import { TABLES } from './tables.ts'

/** What a program would do with its words beyond what its name says, and the files they name. */
export interface ProgramLook {
  readonly hazards: readonly FoundHazard[]
  /** Indices into words (0 is the program) of operands that are files or folders. */
  readonly paths: readonly number[]
  /** Option values that are files, e.g. of --file=x or -fx. */
  readonly pathValues: readonly string[]
  readonly isKnown: boolean
}

/** A part of the words that makes the program do more than its name says. */
export interface FoundHazard extends Hazard {
  /** As it is written, without its value: `--out`, `-o`, `push`. */
  readonly option: string
  /** Index of the word that brings it: a rule that spells this word out means it. After the last when no word says it. */
  readonly at: number
}

/** One hazard is enough to ask; a hostile line could hold millions. */
const MOST_HAZARDS = 32
const LONGEST_SHOWN = 60

type Words = readonly (string | undefined)[]

/** Looks at the words of one simple command; undefined stands for a word that only the run would tell. */
export function lookAtProgram(words: readonly (string | undefined)[]): ProgramLook {
  const look = new Look(words)
  const table = findTable(words[0])
  if (table) look.atCommand(table, 0)
  else look.guessFrom(1)
  return { hazards: look.hazards, paths: look.paths, pathValues: look.pathValues, isKnown: table !== undefined }
}

const findByName = compileByName(TABLES)

function findTable(word: string | undefined): CompiledTable | undefined {
  if (word === undefined) return undefined
  const name = word.slice(word.lastIndexOf('/') + 1)
  const exact = findByName(name)
  if (exact) return exact
  const stem = /^([a-z]+)-?\d[\d.]{0,15}$/.exec(name)?.[1]
  const versioned = stem === undefined ? undefined : findByName(stem)
  return versioned?.table.isVersioned ? versioned : undefined
}

class Look {
  readonly hazards: FoundHazard[] = []
  readonly paths: number[] = []
  readonly pathValues: string[] = []
  readonly #words: Words

  constructor(words: Words) {
    this.#words = words
  }

  /** Looks at a program, or at a command of one, whose name is the word at an index. */
  atCommand(compiled: CompiledTable, at: number): void {
    const { table } = compiled
    const hasCommands = table.commands !== undefined
    const stops = hasCommands || table.stopsAtOperand === true
    const { options, operands, end } = readArguments(this.#words, at + 1, compiled, stops)
    for (const found of options) this.#atOption(found, compiled)
    this.#atImplied(compiled, at, options, operands.length)
    if (hasCommands) {
      if (operands.length > 0) this.#atSubcommand(compiled, operands[0]!, end)
      return
    }
    this.#atOperands(compiled, options, operands)
    if (table.stopsAtOperand) this.guessFrom(end)
  }

  /** Takes what looks like a file for one, from an index on. */
  guessFrom(from: number): void {
    for (let index = from; index < this.#words.length; index++) this.#guess(index)
  }

  #atSubcommand(compiled: CompiledTable, at: number, end: number) {
    const name = this.#words[at]
    const command = name === undefined ? undefined : compiled.command(name)
    if (command) return this.atCommand(command, at)
    if (compiled.table.otherwise) this.#add(compiled.table.otherwise, name ?? '…', at)
    // The options of an unknown command are unknown too, but not those of the program itself.
    if (compiled.table.isInherited) {
      const rest = readArguments(this.#words, end, compiled, false)
      for (const found of rest.options) this.#atOption(found, compiled)
    }
    this.guessFrom(end)
  }

  #atOption({ entry, spelled, value, at, valueAt }: FoundOption, { table }: CompiledTable) {
    if (entry === undefined) {
      if (table.isClosed && !/^-\d$/.test(spelled)) this.#add(UNLISTED, spelled, at)
      if (value !== undefined && looksLikePath(value)) this.pathValues.push(value)
      return
    }
    for (const row of entry.rows) {
      if (row.when === undefined) this.#add(row, spelled, at)
      // A rule that spells out the option alone says nothing of such a value.
      else if (isLike(value, row.when, entry)) this.#add(row, spelled, valueAt)
    }
    if (value === undefined) return
    if (entry.isScript) this.#atScript(table, value, valueAt)
    if (entry.isPath) this.#addPathValue(value)
  }

  #atImplied({ implied }: CompiledTable, at: number, options: readonly FoundOption[], operandCount: number) {
    if (implied === undefined || isSettled(options, implied.unless)) return
    if (implied.row.unlessOperands && operandCount > 0) return
    this.#add(implied.row, this.#words[at] ?? '…', implied.row.isUnnamed ? this.#words.length : at)
  }

  #atOperands(compiled: CompiledTable, options: readonly FoundOption[], operands: readonly number[]) {
    const { table, operandRows, textsUnless } = compiled
    const kind = table.operands ?? 'guess'
    const texts =
      typeof kind === 'object' && !options.some(({ entry }) => entry && textsUnless.has(entry)) ? kind.texts : 0
    const rows = operandRows.filter(({ unless }) => !isSettled(options, unless)).map(({ row }) => row)
    for (const [place, at] of operands.entries()) {
      const word = this.#words[at]
      for (const { like, from = 1, to = Number.POSITIVE_INFINITY, ...hazard } of rows) {
        if (place + 1 >= from && place < to && (like === undefined || word === undefined || like.test(word)))
          this.#add(hazard, word ?? '…', at)
      }
      if (word === undefined) continue
      if (place < texts) this.#atScript(table, word, at)
      else if (kind === 'guess') this.#guess(at)
      else if (kind !== 'texts' && word !== '-' && word !== '') this.paths.push(at)
    }
  }

  #atScript({ readScript }: ProgramTable, text: string, at: number) {
    const reading = readScript?.(text)
    for (const hazard of reading?.hazards ?? []) this.#add(hazard, text, at)
    for (const path of reading?.paths ?? []) this.#addPathValue(path)
  }

  #guess(at: number) {
    const word = this.#words[at]
    if (word === undefined) return
    const within = pathWithin(word)
    if (within !== undefined) this.pathValues.push(within)
    if (!word.startsWith('-') && looksLikePath(word)) this.paths.push(at)
  }

  #addPathValue(value: string) {
    if (value !== '' && value !== '-' && value !== '/dev/null') this.pathValues.push(value)
  }

  #add({ kind, reason }: Hazard, option: string, at: number) {
    if (this.hazards.length < MOST_HAZARDS) this.hazards.push({ option: shorten(option), kind, reason, at })
  }
}

function shorten(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

const UNLISTED: Hazard = { kind: 'reach', reason: 'is no option that is known to be harmless' }

/** A value that only the run would tell may be like anything. */
function isLike(value: string | undefined, like: RegExp, entry: Option): boolean {
  return value === undefined ? entry.value === 'required' : like.test(value)
}

/** Says whether one of some options was given, and none taken back: `--list --no-list`. */
function isSettled(options: readonly FoundOption[], wanted: ReadonlySet<unknown>): boolean {
  if (wanted.size === 0 || !options.some(({ entry }) => wanted.has(entry))) return false
  return !options.some(({ entry, spelled }) => entry === undefined && spelled.startsWith('--no-'))
}
