import { expect, it } from 'vitest'
import { readArgv } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'] }
const AGREES = () => ({ hasError: false, names: [] })

it('takes words as they are, whatever they would mean to a shell', () => {
  const { parts, doubts } = readArgv(['cat', '$(id)', 'a;b', '*.md', "it's"], PLACE)
  expect(parts).toEqual([
    expect.objectContaining({ words: ['cat', '$(id)', 'a;b', '*.md', "it's"], doubts: [], through: [] }),
  ])
  expect(doubts).toEqual([])
})

it('finds what a wrapper or a shell among them carries out', () => {
  const { parts } = readArgv(['env', 'sh', '-c', 'ls; rm -rf /'], PLACE, AGREES)
  expect(parts.map(({ words }) => words[0])).toEqual(['env', 'sh', 'ls', 'rm'])
})

it('is not certain of a text for a shell without the second parser', () => {
  expect(readArgv(['sh', '-c', 'ls'], PLACE).doubts[0]).toMatchObject({ kind: 'unread' })
})

it('sees files outside, programs by path and characters that do not show', () => {
  expect(readArgv(['cat', '/etc/passwd'], PLACE).parts[0]!.doubts[0]).toMatchObject({ kind: 'reach' })
  expect(readArgv(['/bin/cat', 'a'], PLACE).parts[0]!.doubts[0]).toMatchObject({ kind: 'reach' })
  expect(readArgv(['cat', 'a\u202eb'], PLACE).doubts[0]).toMatchObject({ kind: 'unread' })
})

it('finds files of code in the values of options, however they are joined', () => {
  for (const words of [['--file=run.sh'], ['-f=run.sh'], ['file=run.sh'], ['-frun.sh'], ['run.sh']])
    expect(readArgv(['mytool', ...words], PLACE).parts[0]!.code?.files, words[0]).toContain('/ws/repo/run.sh')
})

it('refuses what cannot run', () => {
  for (const argv of [[], [''], ['ls', 'a\0b']])
    expect(readArgv(argv, PLACE).doubts[0], JSON.stringify(argv)).toMatchObject({ kind: 'refused' })
})

it('does not read what is too long', () => {
  const { doubts } = readArgv(['ls', 'a'.repeat(70_000)], PLACE)
  expect(doubts[0]).toMatchObject({ kind: 'unread', reason: expect.stringContaining('65536') })
})
