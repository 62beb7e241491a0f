import { type CompiledTable, compileByName } from './compile-table.ts'
import { TABLES } from './tables.ts'

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
