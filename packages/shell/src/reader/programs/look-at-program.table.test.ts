import { describe, expect, it } from 'vitest'
import { lookAtProgram } from './look-at-program.ts'
import type { Hazard, ProgramTable } from './program-table.ts'
import { optionNames } from './read-arguments.ts'
import { TABLES } from './table/index.ts'

interface Case {
  readonly line: string
  readonly reason: string
  readonly kind: Hazard['kind']
  /** The same without what makes it a hazard; absent without such a line. */
  readonly clean?: string
}

/** One case for each row of the table and of the tables of its commands. */
function casesOf(table: ProgramTable, before = ''): Case[] {
  const name = `${before}${optionNames(table.names)[0]}`
  const isAlways = table.implied !== undefined && !table.implied.unless && !table.implied.unlessOperands
  const rest = table.clean === undefined ? '' : ` ${table.clean}`
  const clean = isAlways ? undefined : `${name}${rest}`
  const rows = [...(table.rows ?? []), ...(table.operandRows ?? [])]
  const own = rows.map(({ example, reason, kind }) => ({ line: `${name} ${example}${rest}`, reason, kind, clean }))
  const bare = [table.implied, table.otherwise].filter((row) => row !== undefined)
  return [
    ...own,
    ...bare.map(({ example, reason, kind }) => ({ line: `${name} ${example}`, reason, kind, clean })),
    ...(table.commands ?? []).flatMap((command) => casesOf(command, `${name} `)),
  ]
}

/** Every line that a table calls clean, with each name of its program. */
function cleanLinesOf(table: ProgramTable, before = ''): string[] {
  const isAlways = table.implied !== undefined && !table.implied.unless && !table.implied.unlessOperands
  const own = isAlways ? [] : optionNames(table.names).map((name) => `${before}${name} ${table.clean ?? ''}`)
  const [first] = optionNames(table.names)
  return [...own, ...(table.commands ?? []).flatMap((command) => cleanLinesOf(command, `${before}${first} `))]
}

const look = (line: string) => lookAtProgram(line.split(' ').filter(Boolean))

describe('each row of the tables of programs', () => {
  const cases = TABLES.flatMap((table) => casesOf(table))

  it.each(cases)('finds that `$line` $reason', ({ line, reason, kind, clean }) => {
    expect(look(line)).toMatchObject({ isKnown: true })
    expect(look(line).hazards).toContainEqual(expect.objectContaining({ reason, kind }))
    if (clean !== undefined) expect(look(clean).hazards).toEqual([])
  })

  it('has every spelling of an option', () => {
    const missing = TABLES.flatMap((table) => missingSpellings(table, ''))
    expect(missing).toEqual([])
  })

  it('is there for the programs that people allow most', () => {
    const names =
      'git grep rg sort find xargs tar sed awk curl wget ssh npm npx node python go cargo make docker cut uniq head tail tr wc'
    expect(optionNames(names).filter((name) => !lookAtProgram([name]).isKnown)).toEqual([])
  })

  it('has no name twice', () => {
    const names = TABLES.flatMap((table) => optionNames(table.names))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('calls the clean line of every program clean', () => {
    const lines = TABLES.flatMap((table) => cleanLinesOf(table))
    expect(lines.filter((line) => look(line).hazards.length > 0)).toEqual([])
  })
})

/** Spellings of rows that are not found when they stand alone with a value that any row takes. */
function missingSpellings(table: ProgramTable, before: string): string[] {
  const name = `${before}${optionNames(table.names)[0]}`
  const own = (table.rows ?? []).flatMap(({ option, example, reason, when }) => {
    const spelled = option.replace(/\[?=.*$/, '')
    const value = example.split(' ')[1] ?? 'x'
    if (when !== undefined) return []
    return optionNames(spelled)
      .filter((spelling) => !look(`${name} ${spelling} ${value}`).hazards.some((hazard) => hazard.reason === reason))
      .map((spelling) => `${name} ${spelling}`)
  })
  return [...own, ...(table.commands ?? []).flatMap((command) => missingSpellings(command, `${name} `))]
}
