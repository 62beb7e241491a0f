import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { CommandPart } from '../reading.ts'
import { readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
const AGREES = () => ({ hasError: false, names: [] })

/**
 * Lines, each with all that policy learns about it below: `!` doubts about the whole line; `[…]` a command by its words
 * (`?` only the run would tell), followed by its place, its text if that is not the line, its files and its doubts (`@1`:
 * the word that brings it); `may run` the commands that an unknown program could start. `⏎` is a line break.
 */
const FOLDER = new URL('readings/', import.meta.url)

describe.each(['places', 'values', 'words', 'wrappers'])('%s', (name) => {
  const text = readFileSync(new URL(`${name}.txt`, FOLDER), 'utf8').trimEnd()
  const cases = text.split(/\n(?! )/).map((block) => block.split('\n'))

  it.each(cases)('%s is read with all its commands, files and doubts', (line, ...expected) => {
    expect(describeReading(line.replaceAll('⏎', '\n'))).toEqual(expected)
  })
})

function describeReading(line: string): string[] {
  const { parts, doubts } = readCommandLine(line, PLACE, AGREES)
  return [
    ...doubts.map(({ kind, reason }) => `  ! ${kind}: ${reason}`),
    ...parts.flatMap((part) => describePart(part, '  ', line)),
  ].map((text) => text.replaceAll('\n', '⏎').trimEnd())
}

function describePart(
  { words, text, where, through, paths, doubts, carried = [] }: CommandPart,
  indent: string,
  line?: string,
): string[] {
  const shown = words.map((word = '?') => (/[\s[\]]|^$/.test(word) ? JSON.stringify(word) : word)).join(' ')
  const place = [
    ...(where === undefined ? [] : [where]),
    ...(through.length === 0 ? [] : [`through ${through.join(' ')}`]),
  ]
  return [
    `${indent}[${shown}] ${place.join(', ')}`,
    ...(text === shown || text === line ? [] : [`${indent}  text ${text}`]),
    ...(paths.length === 0 ? [] : [`${indent}  files ${paths.join(' ')}`]),
    ...doubts.map(({ kind, at, reason }) => `${indent}  ${kind}${at === undefined ? '' : ` @${at}`}: ${reason}`),
    ...carried.flatMap(({ at, part }) => [`${indent}  may run @${at}`, ...describePart(part, `${indent}    `)]),
  ]
}
