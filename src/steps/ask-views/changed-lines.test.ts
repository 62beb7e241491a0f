import { describe, expect, it } from 'vitest'
import { changedLines } from './changed-lines.ts'

const shown = (before: string, after: string) => changedLines(before, after, 'why.')

describe('a change for which no diff is made', () => {
  it.each<[string, string, string, string[]]>([
    ['in the middle', 'a\nb\nc\n', 'a\nx\nc\n', ['-b', '+x']],
    ['of the first line', 'a\nb\n', 'x\nb\n', ['-a', '+x']],
    ['of the last line', 'a\nb\n', 'a\nx\n', ['-b', '+x']],
    ['of the last line without a line break', 'a\nb', 'a\nx', ['-b', '+x']],
    ['of the only line', 'a', 'b', ['-a', '+b']],
    ['of all lines', 'a\nb\n', 'x\ny\n', ['-a', '-b', '+x', '+y']],
    ['that only adds', 'a\nc\n', 'a\nb\nc\n', ['+b']],
    ['that only removes', 'a\nb\nc\n', 'a\nc\n', ['-b']],
    ['at the start of the text', 'b\n', 'a\nb\n', ['+a']],
    ['at the end of the text', 'a\n', 'a\nb\n', ['+b']],
    ['that makes a text', '', 'a\nb\n', ['+a', '+b']],
    ['that removes a text', 'a\nb\n', '', ['-a', '-b']],
    ['of one of several equal lines', 'a\na\n', 'a\na\na\n', ['+a']],
    ['in the middle of a line', 'one two three\n', 'one 2 three\n', ['-one two three', '+one 2 three']],
    ['of what only begins a line', 'a\nbcd\n', 'a\nbxd\n', ['-bcd', '+bxd']],
    ['that adds an empty line', 'a\nb\n', 'a\n\nb\n', ['+']],
    ['that adds two empty lines at the end', 'a\n', 'a\n\n\n', ['+', '+']],
    ['around a lone carriage return', 'a\rb\nc\n', 'a\rx\nc\n', ['-a\rb', '+a\rx']],
  ])('%s shows the lines from the first that changes to the last one', (_, before, after, lines) => {
    expect(shown(before, after).split('\n')).toEqual(['Not compared: why.', ...lines])
  })

  it('shows the lines between two changes, too', () => {
    expect(shown('a\nb\nc\nd\n', 'a\nx\nc\ny\n').split('\n').slice(1)).toEqual(['-b', '-c', '-d', '+x', '+c', '+y'])
  })

  it.each([
    ['removed', 'x'.repeat(8_001), 'y'],
    ['added', 'y', 'x'.repeat(8_001)],
  ])('says first that it is not shown whole where too much is %s', (_, before, after) => {
    const text = shown(before, after)
    expect(text).toMatch(/^NOT SHOWN WHOLE: why\.\n/)
    expect(text).toContain('… 1 characters in between are not shown …')
    expect(shown(before.slice(0, 8_000), after.slice(0, 8_000))).toMatch(/^Not compared: why\.\n/)
  })
})
