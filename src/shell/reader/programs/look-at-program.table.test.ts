import { describe, expect, it } from 'vitest'
import { lookAtProgram, TABLES } from './look-at-program.ts'
import type { Hazard, ProgramTable } from './program-table.ts'
import { optionNames } from './read-arguments.ts'

interface Case {
  readonly line: string
  readonly reason: string
  readonly kind: Hazard['kind']
  /** The same without what makes it a hazard; absent where there is no such line. */
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

  it('is recorded with all that its example brings, so that none can go unnoticed', async () => {
    const lines = cases.map(({ line }) => {
      const found = look(line).hazards.map(({ option, kind, reason, at }) => `${option} @${at} ${kind}: ${reason}`)
      return `${line}\n${found.map((text) => `  ${text}\n`).join('')}`
    })
    await expect(lines.join('')).toMatchFileSnapshot('./rows.snapshot.txt')
  })

  it('is recorded with all harmless options and what they make of the next word', async () => {
    const lines = TABLES.flatMap((table) => harmlessOf(table, ''))
    await expect(lines.join('\n')).toMatchFileSnapshot('./options.snapshot.txt')
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

/** Any word, and one that no table lists: what a program makes of operands, and of options it may not have. */
const OTHERS = ['word', '--not-listed']

/** The harmless options of a table by what follows if a word stands after them, as `git tag --contains a/b`. */
function harmlessOf(table: ProgramTable, before: string): string[] {
  const name = `${before}${optionNames(table.names)[0]}`
  const { texts, pairs, files, scripts, maybes, flags } = table
  const groups = new Map<string, string[]>()
  const options = [texts, pairs, files, scripts, maybes, flags].flatMap((names) => optionNames(names ?? ''))
  for (const option of [...OTHERS, ...options]) {
    const { hazards, paths, pathValues } = look(`${name} ${option} a/b`)
    const found = [...hazards.map(({ reason }) => reason), ...paths.map(() => 'an operand'), ...pathValues]
    groups.set(found.join(', '), [...(groups.get(found.join(', ')) ?? []), option])
  }
  const own = [...groups].map(([found, options]) => `${name} ${options.join(' ')}: ${found}`.trimEnd())
  return [...own, ...(table.commands ?? []).flatMap((command) => harmlessOf(command, `${name} `))]
}

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
