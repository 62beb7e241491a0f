import type { HazardRow, ImpliedRow, OperandRow, ProgramTable } from './program-table.ts'

/** An option as it was found in the words; without an entry when the table does not know it. */
export interface FoundOption {
  readonly entry?: Option
  /** As it was written, without its value: `--out`, `-o`. */
  readonly spelled: string
  /** Absent if it has none, or if it is only known at run time. */
  readonly value?: string
  /** Index of the word that holds it. */
  readonly at: number
  /** Index of the word that holds its value. */
  readonly valueAt: number
}

/** The words of a command, sorted into options and operands. */
export interface Arguments {
  readonly options: readonly FoundOption[]
  /** Indices of the operands. */
  readonly operands: readonly number[]
  /** Index of the first word that was not looked at. */
  readonly end: number
  /** Index of the `--` after which there are no options. */
  readonly optionsEnd?: number
}

type Words = readonly (string | undefined)[]

/** More flags than any program has: the rest of such a word is not read. */
const MAX_CLUSTER_LENGTH = 64
/** The most options missing from the table that are read. */
const MAX_WAYS = 32

/**
 * Sorts words into options, their values and operands, in every way that the program could, the likeliest first: an option
 * that the table lacks may take the next word or not. Returns `undefined` if there are too many ways.
 */
export function readProgramArguments(
  words: Words,
  from: number,
  compiled: CompiledTable,
  stopsAtOperand: boolean,
): readonly [Arguments, ...Arguments[]] | undefined {
  const starts: Start[] = []
  const likeliest = readOneWay(words, { index: from, options: [], operands: [] }, compiled, stopsAtOperand, starts)
  const ways: [Arguments, ...Arguments[]] = [likeliest]
  for (const start of starts) {
    if (starts.length >= MAX_WAYS) return undefined
    ways.push(readOneWay(words, start, compiled, stopsAtOperand, starts))
  }
  return ways
}

/** Where another way to read the words begins, and what was read until there. */
interface Start {
  readonly index: number
  readonly options: FoundOption[]
  readonly operands: number[]
}

/** What the readers of single words share. */
interface Reading {
  readonly words: Words
  readonly compiled: CompiledTable
  readonly options: FoundOption[]
  /** Says that the words from an index on may also be read as if nothing before it took them. */
  readonly fork: (index: number) => void
}

function readOneWay(words: Words, start: Start, compiled: CompiledTable, stops: boolean, starts: Start[]): Arguments {
  const { style, hasBareCluster, carries } = compiled.table
  const { options, operands } = start
  let { index } = start
  let optionsEnd: number | undefined
  const fork = (other: number) => {
    // Whether a plain word is a value or an operand, what follows it is read the same way.
    const isPlain = !words[other - 1]?.startsWith('-')
    if (!stops && !isPlain && starts.length < MAX_WAYS)
      starts.push({ index: other, options: [...options], operands: [...operands] })
  }
  const reading = { words, compiled, options, fork }
  if (hasBareCluster && options.length === 0) index = readBareCluster(reading, index)
  while (index < words.length) {
    const word = words[index]
    if (word === '--' && style !== 'none') {
      optionsEnd = index++
      while (index < words.length && !(stops && operands.length > 0)) operands.push(index++)
      break
    }
    if (word === undefined || word.length < 2 || word[0] !== '-' || style === 'none') {
      operands.push(index++)
      if (stops) break
      continue
    }
    index = readOption(reading, index, word)
    const last = options.at(-1)
    if (carries !== undefined && last?.spelled === carries) {
      operands.push(last.valueAt)
      break
    }
  }
  return { options, operands, end: index, optionsEnd }
}

/** Reads the word at an index, and its value from the next one; returns the index after both. */
function readOption(reading: Reading, at: number, word: string): number {
  const { words, compiled, options, fork } = reading
  const isWord = compiled.table.style === 'words'
  const equals = word.indexOf('=')
  const spelled = equals === -1 ? word : word.slice(0, equals)
  const attached = equals === -1 ? undefined : word.slice(equals + 1)
  const isOneDash = !isWord && word[1] !== '-'
  if (isOneDash && spelled.length === 2) return readCluster(reading, at, word)
  const { entry, isExact } = findOption(isWord && spelled.startsWith('--') ? spelled.slice(1) : spelled, compiled)
  if (isOneDash && entry === undefined) return readCluster(reading, at, word)
  const count = attached === undefined ? wordsOf(entry) : 0
  const value = count > 0 ? words[at + count] : attached
  options.push({ entry, spelled, value, at, valueAt: at + count })
  if (attached === undefined && !isExact) fork(count > 0 ? at + 1 : at + 2)
  return at + count + 1
}

function readCluster({ words, compiled, options, fork }: Reading, at: number, word: string): number {
  const end = Math.min(word.length, MAX_CLUSTER_LENGTH)
  let isKnown = true
  for (let letter = 1; letter < end; letter++) {
    const spelled = `-${word[letter]}`
    const entry = compiled.options.get(spelled)
    const rest = word.slice(letter + 1)
    if (entry === undefined) {
      // The rest may be the value of an option that the table lacks, or more options: it is read as both.
      options.push({ spelled, value: isKnown ? rest : undefined, at, valueAt: at })
      isKnown = false
      if (rest === '') fork(at + 2)
      continue
    }
    if (entry.value === 'none') {
      options.push({ entry, spelled, at, valueAt: at })
      continue
    }
    const count = rest === '' ? wordsOf(entry) : 0
    // `-o=x` is read as x by some programs and as =x by others; the first is what a path check needs.
    const attached = rest === '' ? undefined : rest.startsWith('=') ? rest.slice(1) : rest
    options.push({ entry, spelled, value: count > 0 ? words[at + count] : attached, at, valueAt: at + count })
    if (!isKnown && count > 0) fork(at + 1)
    return at + count + 1
  }
  if (end < word.length) options.push({ spelled: `${word.slice(0, 12)}…`, at, valueAt: at })
  return at + 1
}

/** How many words after an option belong to it. */
function wordsOf(entry: Option | undefined): number {
  if (entry?.value === 'pair') return 2
  return entry?.value === 'required' ? 1 : 0
}

/** Letters without a dash take their values from the words that follow, in order. */
function readBareCluster({ words, compiled, options }: Reading, at: number): number {
  const word = words[at]
  if (word === undefined || word.startsWith('-')) return at
  let next = at + 1
  for (const letter of word.slice(0, MAX_CLUSTER_LENGTH)) {
    const entry = compiled.options.get(`-${letter}`)
    const valueAt = entry?.value === 'required' ? next++ : at
    options.push({ entry, spelled: `-${letter}`, value: valueAt === at ? undefined : words[valueAt], at, valueAt })
  }
  return next
}

/** Not exact: the table may have no name for what the program takes it for. */
function findOption(name: string, compiled: CompiledTable): { readonly entry?: Option; readonly isExact: boolean } {
  const { options, longNames, wholeNames, table } = compiled
  const exact = options.get(name) ?? (name.includes('_') ? options.get(name.replaceAll('_', '-')) : undefined)
  if (exact || name.length < 3 || (table.style ?? 'gnu') !== 'gnu')
    return { entry: exact, isExact: exact !== undefined }
  return { entry: findShortened(name, options, name[1] === '-' ? longNames : wholeNames), isExact: false }
}

/** A program refuses what is short for two names, so the most dangerous reading is also never a wrong one. */
function findShortened(name: string, options: CompiledTable['options'], names: readonly string[]): Option | undefined {
  let low = 0
  for (let high = names.length; low < high; ) {
    const middle = (low + high) >> 1
    if (names[middle]! < name) low = middle + 1
    else high = middle
  }
  let meant: Option | undefined
  for (; names[low]?.startsWith(name); low++) {
    const option = options.get(names[low]!)!
    if (option.rows.length > 0) return option
    meant ??= option
  }
  return meant
}

/** One option as it is looked up. */
export interface Option {
  /** pair: two words follow it. */
  readonly value: 'none' | 'required' | 'optional' | 'pair'
  readonly isPath: boolean
  readonly isScript: boolean
  readonly isMessage?: boolean
  readonly rows: readonly HazardRow[]
}

/** A table with its names in maps. */
export interface CompiledTable {
  readonly table: ProgramTable
  readonly options: ReadonlyMap<string, Option>
  /** Names that begin with two dashes, sorted, for those cut short. */
  readonly longNames: readonly string[]
  /** The same of names with one dash and several letters. */
  readonly wholeNames: readonly string[]
  /** The command of a name; compiled when it is first asked for, as git has many. */
  readonly command: (name: string) => CompiledTable | undefined
  readonly operandRows: ReadonlyArray<{ readonly row: OperandRow; readonly unless: ReadonlySet<Option> }>
  readonly implied?: { readonly row: ImpliedRow; readonly unless: ReadonlySet<Option> }
  /** With one of these, the operands that come first are not texts. */
  readonly textsUnless: ReadonlySet<Option>
}

/** Puts what a table says into maps, once. */
function compileTable(table: ProgramTable, parent?: ReadonlyMap<string, Option>): CompiledTable {
  const options = new Map(parent)
  addHarmless(options, table)
  // An option may have several rows, each for other values; a row wins over what the parent says of the name.
  const own = new Map<string, Option>()
  for (const row of table.rows ?? []) addRow(own, row)
  for (const [name, option] of own) options.set(name, option)
  if (table.isDashBlind) for (const [name, option] of [...options]) options.set(name.replace(/^--/, '-'), option)
  const find = compileByName(table.commands ?? [], table.isInherited ? options : undefined)
  const pick = (names = '') => new Set(optionNames(names).flatMap((name) => options.get(name) ?? []))
  return {
    table,
    options,
    longNames: [...options.keys()].filter((name) => name.startsWith('--')).sort(),
    wholeNames: [...options.keys()].filter((name) => /^-[^-]./.test(name)).sort(),
    command: find,
    operandRows: (table.operandRows ?? []).map((row) => ({ row, unless: pick(row.unless) })),
    implied: table.implied && { row: table.implied, unless: pick(table.implied.unless) },
    textsUnless: pick(typeof table.operands === 'object' ? table.operands.unless : ''),
  }
}

/** Finds tables by the names they give, each compiled when it is first asked for. */
export function compileByName(tables: readonly ProgramTable[], parent?: ReadonlyMap<string, Option>) {
  const byName = new Map<string, { readonly table: ProgramTable; compiled?: CompiledTable }>()
  for (const table of tables) {
    const entry = { table }
    for (const name of optionNames(table.names)) byName.set(name, entry)
  }
  return (name: string): CompiledTable | undefined => {
    const entry = byName.get(name)
    if (entry) entry.compiled ??= compileTable(entry.table, parent)
    return entry?.compiled
  }
}

/** The names in a text of names. */
export function optionNames(text: string): string[] {
  return text.split(' ').filter(Boolean)
}

function addHarmless(options: Map<string, Option>, table: ProgramTable) {
  const { texts, pairs, files, scripts, messages, maybes, flags } = table
  const add = (names = '', value: Option['value'], is?: 'isPath' | 'isScript' | 'isMessage') => {
    // Each name is an option of its own, so that the two can be distinguished.
    for (const name of optionNames(names))
      options.set(name, {
        value,
        isPath: is === 'isPath',
        isScript: is === 'isScript',
        isMessage: is === 'isMessage',
        rows: [],
      })
  }
  add(flags, 'none')
  add(maybes, 'optional')
  add(texts, 'required')
  add(pairs, 'pair')
  add(files, 'required', 'isPath')
  add(scripts, 'required', 'isScript')
  add(messages, 'required', 'isMessage')
}

function addRow(own: Map<string, Option>, row: HazardRow) {
  const { names, ...shape } = readSpelling(row.option)
  for (const name of names) own.set(name, { ...shape, rows: [...(own.get(name)?.rows ?? []), row] })
}

function readSpelling(text: string) {
  const [, spelled = text, optional, type] = /^(.*?)(?:(\[)?=(FILE|TEXT)\]?)?$/.exec(text) ?? []
  const value = type === undefined ? 'none' : optional === undefined ? 'required' : 'optional'
  return { names: optionNames(spelled), value, isPath: type === 'FILE', isScript: false } as const
}
