import { describe, expect, it } from 'vitest'
import { readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
const AGREES = () => ({ hasError: false, names: [] })
const read = (text: string) => readCommandLine(text, PLACE, AGREES)
const reasonsOf = (text: string) => read(text).doubts.map(({ reason }) => reason)

/** A text in a text in a line: each is read again, which makes `characters` in all. */
function nested(characters: number): string {
  const frame = 'sh -c ""'.length
  const length = Math.floor((characters - 3 * frame) / 3)
  const line = `sh -c "sh -c ': ${'x'.repeat(length - 2)}'"`
  return line + ' '.repeat(characters - 3 * (length + frame))
}

describe('a line is read with certainty up to', () => {
  it.each([
    { what: '131,072 characters of all its texts', of: nested, most: 131_072, says: 'its texts are too long together' },
    {
      what: '1,000 commands',
      of: (count: number) => Array.from({ length: count }, () => 'ls').join(';'),
      most: 1_000,
      says: 'it has more than 1000 commands',
    },
    {
      what: '16 wrappers around a command',
      of: (count: number) => `${'env '.repeat(count)}ls`,
      most: 16,
      says: 'it wraps commands more than 16 deep',
    },
  ])('$what', ({ of, most, says }) => {
    expect(reasonsOf(of(most))).toEqual([])
    expect(reasonsOf(of(most + 1))).toEqual([says])
  })

  it('a dollar sign at the end of a line that continues', () => {
    expect(reasonsOf('echo $\\\nx')).toContain('a line continues right after a dollar sign')
    expect(reasonsOf('echo x\\\n$x')).toEqual([])
  })
})
