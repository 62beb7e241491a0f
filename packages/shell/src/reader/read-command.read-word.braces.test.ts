import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
const read = (words: string) => {
  const [part] = readCommandLine(`echo ${words}`, PLACE, () => ({ hasError: false, names: [] })).parts
  return part!.words.slice(1)
}

/** The words that bash itself makes of them. */
function inBash(words: string): string[] {
  const text = execFileSync('bash', ['-c', `printf '%s\\0' ${words}`], { encoding: 'utf8' })
  return text.split('\0').slice(0, -1)
}

describe('braces', () => {
  it.each([
    ...[
      'a{b,c}d',
      '{a,b,}',
      '{,a}x',
      '{a,b{c,d}e}',
      '{a,b}{c,d}',
      'x{a}',
      '{a',
      'a}',
      '{a,b',
      '{{a,b}',
      '{a,b}}',
      '{}',
    ],
    ...['{1..3}', '{3..1}', '{-2..2}', '{0..10..5}', '{0..10..-5}', '{10..0..5}', '{1..4..0}', '{01..03}', '{8..010}'],
    ...['{-01..1}', '{a..e}', '{e..a}', '{a..e..2}', '{x..z}{1..2}', '{1..a}', '{1...3}', '{a..}', '{..3}', '{1..2..}'],
    ...['{1..2}{a,b}', 'x{1..2,3}', '{1.5..2}', '{00..1}', '{-0..1}', '{A..C}', "{'1'..3}", '\\{a,b}', '{a\\,b,c}'],
  ])('%s are expanded as bash does', (words) => {
    expect(read(words)).toEqual(inBash(words))
  })

  it.each([
    { most: '{1..64}', more: '{1..65}' },
    { most: '{1..127..2}', more: '{1..129..2}' },
    { most: '{a,b}'.repeat(6), more: '{a,b}'.repeat(7) },
    { most: `{${'a,'.repeat(63)}b}`, more: `{${'a,'.repeat(64)}b}` },
    { most: '{a,{1..63}}', more: '{a,{1..64}}' },
    { most: '{123456789..123456790}', more: '{1234567890..1234567891}' },
    { most: '{1..2..123456789}', more: '{1..2..1234567890}' },
  ])('are expanded up to a bound: $most', ({ most, more }) => {
    expect(read(most)).toEqual(inBash(most))
    expect(read(more)).toEqual([undefined])
  })
})
