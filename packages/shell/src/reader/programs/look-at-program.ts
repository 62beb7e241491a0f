import { baseName } from '../../loose-words.ts'
import type { Risk } from '../../risk.ts'
import { type GitPath, readGitOperand } from './git-paths.ts'
import type { Hazard, ProgramTable } from './program-table.ts'
import {
  type Arguments,
  type CompiledTable,
  compileByName,
  type FoundOption,
  type Option,
  optionNames,
  readProgramArguments,
} from './read-arguments.ts'
import { TABLES } from './table/index.ts'

/** What a program would do with its words beyond what its name says, and the files they name. */
export interface ProgramLook {
  readonly hazards: readonly FoundHazard[]
  /** Indices into words (0 is the program) of operands that are files or folders. */
  readonly paths: readonly number[]
  /** Option values that are files, e.g. of --file=x or -fx. */
  readonly pathValues: readonly string[]
  /** Files in the spellings of git, such as `HEAD:x`. */
  readonly gitPaths: readonly GitPath[]
  /** Indices of words that may be others without a change of what it does: plain files, and messages. */
  readonly free: ReadonlyMap<number, '<files>' | '<text>'>
  /** Names of files of the project that say what it runs. */
  readonly projectFiles: readonly string[]
  /** It makes, changes or deletes the files that it names. */
  readonly isWriting: boolean
  readonly isKnown: boolean
  /** What the names of the program and its command say to people. */
  readonly risks: readonly Risk[]
  /** Index after which no word is an option, however the words are read; absent where there may be options up to the end. */
  readonly optionsEnd?: number
}

/** A part of the words that makes the program do more than its name says. */
export interface FoundHazard extends Hazard {
  /** As it is written, without its value: `--out`, `-o`, `push`. */
  readonly option: string
  /** Index of the word that brings it: a rule that spells this word out means it. After the last when no word says it. */
  readonly at: number
}

/** One hazard is enough to ask; a hostile line could hold millions. */
const MAX_HAZARDS = 32
const MAX_SHOWN_LENGTH = 60
const MAX_GIT_PATHS = 512
/** A program that is started through more programs than this counts as hidden. */
const MAX_CARRIED = 4

type Words = readonly (string | undefined)[]

/**
 * Looks at the words of one simple command; `undefined` stands for a word that is only known at run time. Those with an index
 * in `globs` stand for file names.
 */
export function lookAtProgram(words: Words, globs: ReadonlySet<number> = NONE): ProgramLook {
  const look = new Look(words, globs)
  const table = findTable(words[0])
  if (table) look.atCommand(table, 0)
  else look.guessFrom(1)
  const { hazards, paths, pathValues, gitPaths, optionsEnd, risks } = look
  const found = { hazards, paths: [...paths], pathValues: [...pathValues], gitPaths, risks: [...risks] }
  const projectFiles = optionNames(table?.table.projectFiles ?? '')
  const isWriting = table?.table.isWriting === true
  return { ...found, free: look.free(), projectFiles, isWriting, isKnown: table !== undefined, optionsEnd }
}

const NONE: ReadonlySet<number> = new Set()

class Look {
  readonly hazards: FoundHazard[] = []
  readonly paths = new Set<number>()
  readonly pathValues = new Set<string>()
  readonly gitPaths: GitPath[] = []
  readonly risks = new Set<Risk>()
  optionsEnd: number | undefined
  /** In how many ways of reading its words each is free, and all ways. */
  readonly #free = new Map<number, { readonly as: '<files>' | '<text>'; ways: number }>()
  #ways = 0
  readonly #words: Words
  readonly #globs: ReadonlySet<number>
  #carried = 0

  constructor(words: Words, globs: ReadonlySet<number>) {
    this.#words = words
    this.#globs = globs
  }

  /** Looks at a program, or at a command of one, whose name is the word at an index. */
  atCommand(compiled: CompiledTable, at: number): void {
    const { commands, stopsAtOperand = false, carries, risk } = compiled.table
    const name = baseName(this.#words[at] ?? '')
    const named = typeof risk !== 'object' ? risk : Object.hasOwn(risk, name) ? risk[name] : undefined
    if (named !== undefined) this.risks.add(named)
    const hasCommands = commands !== undefined
    const ways = readProgramArguments(this.#words, at + 1, compiled, hasCommands || stopsAtOperand)
    if (ways === undefined) {
      this.#add(UNREADABLE, this.#words[at] ?? '…', this.#words.length)
      this.guessFrom(at + 1)
      return
    }
    this.#ways = ways.length
    this.#free.clear()
    for (const way of ways) {
      for (const found of way.options) this.#atOption(found, compiled)
      this.#atImplied(compiled, at, way)
      if (!hasCommands) this.#atOperands(compiled, way)
    }
    const [{ operands, end }] = ways
    const ends = ways.map(({ optionsEnd }) => optionsEnd ?? Number.POSITIVE_INFINITY)
    if (!hasCommands && !stopsAtOperand && ends.every(Number.isFinite)) this.optionsEnd = Math.max(...ends)
    if (hasCommands && operands.length > 0) this.#atSubcommand(compiled, operands[0]!, end)
    if (hasCommands || !stopsAtOperand) return
    if (carries === undefined || operands.length === 0 || !this.#atCarried(operands[0]!, carries)) this.guessFrom(end)
  }

  /** A word that is a hazard, or may be the value of an option that the table lacks, is not free. */
  free(): ProgramLook['free'] {
    // Files are part of what a program does that runs code.
    if (this.hazards.some(({ kind }) => kind === 'hidden')) return new Map()
    const risky = new Set(this.hazards.map(({ at }) => at))
    const free = [...this.#free].filter(([at, { ways }]) => ways === this.#ways && !risky.has(at))
    return new Map(free.map(([at, { as }]) => [at, as]))
  }

  #setFree(at: number, as: '<files>' | '<text>') {
    const known = this.#free.get(at)
    if (known) known.ways++
    else this.#free.set(at, { as, ways: 1 })
  }

  /** Takes what looks like a file for one, from an index on. */
  guessFrom(from: number): void {
    for (let index = from; index < this.#words.length; index++) this.#guess(index)
  }

  /** Looks at the program that gets all words from an index on, if anything is known of it. */
  #atCarried(at: number, carries: string): boolean {
    const word = this.#words[at]
    const carried = findTable(word?.startsWith(carries) ? word.slice(carries.length) : word)
    if (carried === undefined) return false
    if (++this.#carried > MAX_CARRIED) {
      this.#add(UNREADABLE, word ?? '…', this.#words.length)
      return false
    }
    this.atCommand(carried, at)
    // `npm exec` keeps the first `--` for itself.
    const end = this.#words.indexOf('--', at)
    if (end !== -1) this.atCommand(carried, end)
    this.optionsEnd = undefined
    return true
  }

  #atSubcommand(compiled: CompiledTable, at: number, end: number) {
    const name = this.#words[at]
    const command = name === undefined ? undefined : compiled.command(name)
    if (command) return this.atCommand(command, at)
    if (compiled.table.otherwise) this.#add(compiled.table.otherwise, name ?? '…', at)
    // The options of an unknown command are unknown too, but not those of the program itself.
    if (compiled.table.isInherited) {
      for (const { options } of readProgramArguments(this.#words, end, compiled, false) ?? [])
        for (const found of options) this.#atOption(found, compiled)
    }
    this.guessFrom(end)
  }

  #atOption({ entry, spelled, value, at, valueAt }: FoundOption, { table }: CompiledTable) {
    if (entry === undefined) {
      // What takes the next word away may also hide which command it is.
      const isClosed = table.isClosed || table.commands !== undefined
      if (isClosed && !/^-\d$/.test(spelled)) this.#add(UNLISTED, spelled, at)
      if (value !== undefined && looksLikePath(value)) this.pathValues.add(value)
      return
    }
    const known = this.#globs.has(valueAt) ? undefined : value
    for (const row of entry.rows) {
      if (row.when === undefined) this.#add(row, spelled, at)
      // A rule that spells out the option alone says nothing of such a value.
      else if (isLike(known, row.when, entry)) this.#add(row, spelled, valueAt)
    }
    if (value === undefined) return
    if (entry.isMessage && valueAt > at) this.#setFree(valueAt, '<text>')
    if (entry.isScript) this.#atScript(table, value, valueAt)
    if (entry.isPath) this.#addPathValue(value)
  }

  #atImplied({ implied }: CompiledTable, at: number, { options, operands }: Arguments) {
    if (implied === undefined || isSettled(options, implied.unless)) return
    if (implied.row.unlessOperands && operands.length > 0) return
    this.#add(implied.row, this.#words[at] ?? '…', implied.row.isUnnamed ? this.#words.length : at)
  }

  #atOperands({ table, operandRows, textsUnless }: CompiledTable, { options, operands, optionsEnd }: Arguments) {
    const { operands: kind = 'guess', stopsAtOperand, implied, isWriting, anyFiles } = table
    const isOpen = anyFiles ?? (isWriting || implied === undefined)
    const texts =
      typeof kind === 'object' && !options.some(({ entry }) => entry && textsUnless.has(entry)) ? kind.texts : 0
    const isGit = kind === 'revisions' || (typeof kind === 'object' && kind.then === 'revisions')
    const unlisted = new Set(options.flatMap(({ entry, at }) => (entry === undefined ? at + 1 : [])))
    const rows = operandRows.filter(({ unless }) => !isSettled(options, unless)).map(({ row }) => row)
    // Of a glob more words may become than stand here.
    let most = 0
    for (const [place, at] of operands.entries()) {
      const word = this.#words[at]
      most = this.#globs.has(at) ? Number.POSITIVE_INFINITY : most + 1
      for (const { like, from = 1, to = Number.POSITIVE_INFINITY, ...hazard } of rows)
        if (most >= from && place < to && this.#couldBeLike(at, like)) this.#add(hazard, word ?? '…', at)
      if (word === undefined) continue
      if (place < texts) this.#atText(table, word, at, options)
      else if (kind === 'guess') this.#guess(at)
      else if (kind !== 'texts' && word !== '-' && word !== '') {
        this.paths.add(at)
        if (isGit && this.gitPaths.length < MAX_GIT_PATHS) this.gitPaths.push(...readGitOperand(word))
        const isFile = !isGit || (optionsEnd !== undefined && at > optionsEnd)
        if (isOpen && isFile && !stopsAtOperand && !unlisted.has(at) && isPlainFile(word)) this.#setFree(at, '<files>')
      }
    }
  }

  #couldBeLike(at: number, like: RegExp | undefined): boolean {
    const word = this.#words[at]
    if (like === undefined || word === undefined) return true
    return this.#globs.has(at) ? couldGlobBeLike(word, like) : like.test(word)
  }

  #atText(table: ProgramTable, text: string, at: number, options: readonly FoundOption[]) {
    this.#atScript(table, text, at)
    // It may be the value of an option that the table lacks, such as a file.
    if (options.some(({ entry, at: before }) => entry === undefined && before === at - 1)) this.#guess(at)
  }

  #atScript({ readScript }: ProgramTable, text: string, at: number) {
    if (readScript && this.#globs.has(at)) this.#add(UNREADABLE, text, at)
    const reading = readScript?.(text)
    for (const hazard of reading?.hazards ?? []) this.#add(hazard, text, at)
    for (const path of reading?.paths ?? []) this.#addPathValue(path)
  }

  #guess(at: number) {
    const word = this.#words[at]
    if (word === undefined) return
    const within = pathWithin(word)
    if (within !== undefined) this.pathValues.add(within)
    if (!word.startsWith('-') && looksLikePath(word)) this.paths.add(at)
  }

  #addPathValue(value: string) {
    if (value !== '' && value !== '-' && value !== '/dev/null') this.pathValues.add(value)
  }

  #add({ kind, reason }: Hazard, option: string, saidAt: number) {
    // The second value of `tar ff` would be after the last word.
    const at = Math.min(saidAt, this.#words.length)
    const isKnown = this.hazards.some((hazard) => hazard.at === at && hazard.reason === reason)
    if (!isKnown && this.hazards.length < MAX_HAZARDS) this.hazards.push({ option: shorten(option), kind, reason, at })
  }
}

function shorten(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}

const UNREADABLE: Hazard = { kind: 'hidden', reason: 'has words whose meaning cannot be told' }
const UNLISTED: Hazard = { kind: 'reach', reason: 'is not known to be harmless' }

/** What a glob finds is in the folder that it names, or else begins as it does. */
function couldGlobBeLike(glob: string, like: RegExp): boolean {
  const [start = ''] = /^[^*?[]*/.exec(glob) ?? []
  const [, escaped, plain] = /^\^(?:\\(\W)|([\w@+-]))/.exec(like.source) ?? []
  const first = escaped ?? plain
  return !start.includes('/') && (start === '' || first === undefined || first === start[0])
}

/** A value that is only known at run time may be like anything. */
function isLike(value: string | undefined, like: RegExp, entry: Option): boolean {
  return value === undefined ? entry.value === 'required' : like.test(value)
}

/** Says whether one of some options was given, and none taken back: `--list --no-list`. */
function isSettled(options: readonly FoundOption[], wanted: ReadonlySet<unknown>): boolean {
  if (wanted.size === 0 || !options.some(({ entry }) => wanted.has(entry))) return false
  return !options.some(({ entry, spelled }) => entry === undefined && spelled.startsWith('--no-'))
}

/** Says whether a word names one file or folder, and not the folder itself, several files or something in a spelling of its own. */
function isPlainFile(word: string): boolean {
  return /^[\w./@+][^*?[\]\\:{}<>]*$/.test(word) && !/^(?:\.{0,2}\/?)+$/.test(word)
}

/** Says whether a word looks like a file or a folder, where nothing is known of the program. */
function looksLikePath(word: string): boolean {
  return word.includes('/') || word === '.' || word === '..' || word.startsWith('~')
}

/** The file within a word that holds more than that: `--x=/etc/y`, `of=/etc/y`, `@/etc/y`, `-I/usr/include`. */
function pathWithin(word: string): string | undefined {
  const inner = /^(?:-{0,2}[\w.-]+=|@|-\w(?=[/.~])|file:(?:\/\/)?)(.+)/is.exec(word)?.[1]
  return inner !== undefined && looksLikePath(inner) ? inner : undefined
}

const findByName = compileByName(TABLES)

/** Finds what is known of the program that a word names, in whatever folder it is. */
export function findTable(word: string | undefined): CompiledTable | undefined {
  if (word === undefined) return undefined
  const name = word.slice(word.lastIndexOf('/') + 1)
  const exact = findByName(name) ?? findByName(name.toLowerCase())
  if (exact) return exact
  const stem = /^([a-z]+)-?\d[\d.]{0,15}$/.exec(name)?.[1]
  const versioned = stem === undefined ? undefined : findByName(stem)
  return versioned?.table.isVersioned ? versioned : undefined
}

const RISKY_ENTRIES = [
  'rows',
  'operandRows',
  'files',
  'scripts',
  'pairs',
  'implied',
  'commands',
  'stopsAtOperand',
] as const

/** Says whether no option of a program does harm, so that a file which is called like one does none either. */
export function isHarmless(program: string): boolean {
  const table = findTable(program)?.table
  return table !== undefined && RISKY_ENTRIES.every((risk) => table[risk] === undefined)
}
