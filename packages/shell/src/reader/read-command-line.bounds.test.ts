import { describe, expect, it } from 'vitest'
import { readArgv, readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
const AGREES = () => ({ hasError: false, names: [] })

const read = (line: string) => readCommandLine(line, PLACE, AGREES)
const reasonsOf = (line: string) => {
  const { parts, doubts } = read(line)
  return [...doubts, ...parts.flatMap((part) => part.doubts)].map(({ reason }) => reason)
}
const repeat = (count: number, text: string) => Array.from({ length: count }, () => text).join(' ')
const numbered = (count: number, text: string) =>
  Array.from({ length: count }, (_, index) => `${text}${index}`).join(' ')

/** The last count that is read with certainty, and what the next one adds. */
describe('a command line is followed up to', () => {
  it.each([
    {
      what: '16 folders that a cd may lead to',
      of: (count: number) => `${'cd a;'.repeat(count - 1)} cat b`,
      most: 16,
      says: 'where it runs depends on a cd',
    },
    {
      what: '512 files of a command',
      of: (count: number) => `cat ${numbered(count, 'a')}`,
      most: 512,
      says: 'it names more than 512 files',
    },
    {
      what: '512 files of options',
      of: (count: number) => `make ${numbered(count, '-W a')}`,
      most: 512,
      says: 'it names more than 512 files',
    },
    {
      what: '512 globs',
      of: (count: number) => `echo ${numbered(count, 'a*')}`,
      most: 512,
      says: 'it names more than 512 files',
    },
    {
      what: '1,000 words of programs that are not known',
      of: (count: number) => `mytool ${repeat(count, 'a')}`,
      most: 1_000,
      says: 'programs that are not known have more than 1000 words',
    },
  ])('$what', ({ of, most, says }) => {
    expect(reasonsOf(of(most))).not.toContain(says)
    expect(reasonsOf(of(most + 1))).toContain(says)
  })

  it('1,000 commands, also where others carry them out', () => {
    const says = 'it has more than 1000 commands'
    // Each find counts with the 19 that it runs.
    const finds = (count: number) => repeat(count / 20, `find . ${repeat(19, '-exec ls \\;')};`)
    for (const lineOf of [(count: number) => repeat(count, 'ls;'), finds]) {
      expect(reasonsOf(lineOf(1_000))).not.toContain(says)
      expect(reasonsOf(lineOf(1_020))).toContain(says)
      expect(read(lineOf(1_020)).parts).toHaveLength(1_000)
    }
    expect(read(`${repeat(999, 'ls;')} ${finds(20)}`).parts).toHaveLength(1_000)
  })

  it('512 files, of which no more are compared with rules', () => {
    expect(read(`cat ${numbered(600, 'a')}`).parts[0]!.paths).toHaveLength(512)
    expect(read(`cat ${numbered(300, 'a')}`).parts[0]!.paths.at(-1)).toBe('/ws/repo/a299')
  })

  it('32 words of what an unknown program may run', () => {
    const carriedBy = (count: number) => read(`mytool ${numbered(count, 'a')}`).parts[0]!.carried![0]!.part.words
    expect(carriedBy(32)).toHaveLength(32)
    expect(carriedBy(32).at(-1)).toBe('a31')
    expect(carriedBy(33).slice(30)).toEqual(['a30', 'a31', undefined])
  })

  it('65,536 characters of words that run without a shell', () => {
    const frame = 'ls '.length
    const doubtsOf = (count: number) => readArgv(['ls', 'a'.repeat(count - frame)], PLACE, AGREES).doubts
    expect(doubtsOf(65_536)).toEqual([])
    expect(doubtsOf(65_537)).toEqual([
      { kind: 'unread', reason: 'it has 65537 characters, the most that are read are 65536' },
    ])
  })

  it('eight reasons why it cannot be read', () => {
    const line = (count: number) =>
      `ls ${Array.from({ length: count }, (_, index) => `\${a${index}/$(id)/b}`).join(' ')}`
    expect(read(line(8)).doubts).toHaveLength(8)
    expect(read(line(9)).doubts).toHaveLength(8)
  })

  it('a depth of 300 nodes', () => {
    // Each `if` is three of them, each `!` and `&&` is one.
    const nested = `${'if '.repeat(99)}ls${'; then ls; fi'.repeat(99)}`
    expect(reasonsOf(`! ${nested}`)).toEqual([])
    expect(reasonsOf(`ls && ! ${nested}`)).toEqual(['it is nested more than 300 deep'])
  })
})

it('what is nested in words that run without a shell is found, and shown with quotes', () => {
  const { parts } = readArgv(['env', 'cat', 'a b', 'c;d'], PLACE, AGREES)
  expect(parts.map(({ text }) => text)).toEqual(['env cat "a b" "c;d"', 'cat "a b" "c;d"'])
})
