import { describe, expect, it } from 'vitest'
import { parseDiff } from '../../components/parse-diff.ts'
import { diffText } from './diff-text.ts'

describe('diffText', () => {
  it('says nothing of texts that are alike', () => {
    expect(diffText('a\nb\n', 'a\nb\n')).toBe('')
    expect(diffText('', '')).toBe('')
  })

  it('keeps what both have, and marks what went and what came', () => {
    expect(diffText('a\nb\nc\n', 'a\nx\nc\nd\n')).toBe('@@ -1 +1 @@\n a\n-b\n+x\n c\n+d')
  })

  it('leaves out what is far from a change, and numbers the lines as in the files', () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`)
    const after = before.toSpliced(9, 1).toSpliced(24, 0, 'new')
    const lines = parseDiff(diffText(before.join('\n'), after.join('\n')))
    expect(lines.filter(({ kind }) => kind === 'hunk').map(({ text }) => text)).toEqual([
      '@@ -7 +7 @@',
      '@@ -23 +22 @@',
    ])
    expect(lines.find(({ kind }) => kind === 'removed')).toEqual({ kind: 'removed', text: 'line 10', before: 10 })
    expect(lines.find(({ kind }) => kind === 'added')).toEqual({ kind: 'added', text: 'new', after: 25 })
  })

  it('makes a text out of nothing and back', () => {
    expect(diffText('', 'a\nb')).toBe('@@ -1 +1 @@\n+a\n+b')
    expect(diffText('a\nb', '')).toBe('@@ -1 +1 @@\n-a\n-b')
  })

  it('does not take forever for two long texts that share nothing', () => {
    const long = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word} ${index}`).join('\n')
    expect(diffText(long('a'), long('b')).split('\n')).toHaveLength(6_001)
  })
})
