import type { HazardRow, ImpliedRow, OperandRow, ProgramTable } from './program-table.ts'
import { CARGO, MAKE } from './table/build-tools.ts'
import { BUILTINS, WRAPPER_PROGRAMS } from './table/builtins.ts'
import { ARCHIVES, FILES } from './table/files.ts'
import { GIT } from './table/git.ts'
import { GO } from './table/go.ts'
import { CURL, WGET } from './table/http-clients.ts'
import { INTERPRETERS, PYTHON } from './table/interpreters.ts'
import { CONTAINERS, REMOTE } from './table/machines.ts'
import { JS_TOOLS, NODE, NPM } from './table/node.ts'
import { FIND, READERS, SEARCH } from './table/readers.ts'
import { TEXT_PROGRAMS, VIEWERS } from './table/text.ts'

/** Every program that something is known of. */
export const TABLES: readonly ProgramTable[] = [
  ...ARCHIVES,
  ...BUILTINS,
  ...CARGO,
  ...CONTAINERS,
  ...CURL,
  ...FILES,
  ...FIND,
  ...GIT,
  ...GO,
  ...INTERPRETERS,
  ...JS_TOOLS,
  ...MAKE,
  ...NODE,
  ...NPM,
  ...PYTHON,
  ...READERS,
  ...REMOTE,
  ...SEARCH,
  ...TEXT_PROGRAMS,
  ...VIEWERS,
  ...WGET,
  ...WRAPPER_PROGRAMS,
]

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

const RISKS = ['rows', 'operandRows', 'files', 'scripts', 'pairs', 'implied', 'commands', 'stopsAtOperand'] as const

/** Says whether no option of a program does harm, so that a file which is called like one does none either. */
export function isHarmless(program: string): boolean {
  const table = findTable(program)?.table
  return table !== undefined && RISKS.every((risk) => table[risk] === undefined)
}

/** One option as it is looked up. */
export interface Option {
  /** pair: two words follow it. */
  readonly value: 'none' | 'required' | 'optional' | 'pair'
  readonly isPath: boolean
  readonly isScript: boolean
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
  /** With one of these, the operands that come first are no texts. */
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
function compileByName(tables: readonly ProgramTable[], parent?: ReadonlyMap<string, Option>) {
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

function addHarmless(options: Map<string, Option>, { texts, pairs, files, scripts, maybes, flags }: ProgramTable) {
  const add = (names = '', value: Option['value'], is: 'isPath' | 'isScript' | '' = '') => {
    // Each name is an option of its own, so that the two can be distinguished.
    for (const name of optionNames(names))
      options.set(name, { value, isPath: is === 'isPath', isScript: is === 'isScript', rows: [] })
  }
  add(flags, 'none')
  add(maybes, 'optional')
  add(texts, 'required')
  add(pairs, 'pair')
  add(files, 'required', 'isPath')
  add(scripts, 'required', 'isScript')
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
