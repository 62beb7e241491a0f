import { describe, expect, it } from 'vitest'
import { diffText, parseDiff, reverseDiff } from './diff.ts'

describe('reverseDiff', () => {
  it('tells what a call did from what undoing it would change', () => {
    const diff = '--- as it was left\n+++ before\n@@ -1,3 +1,4 @@\n one\n-two, edited\n+two\n+three\n four'
    expect(reverseDiff(diff)).toBe('@@ -1,4 +1,3 @@\n one\n-two\n-three\n+two, edited\n four')
  })

  it('keeps a missing end of line at its line', () => {
    const diff = '@@ -1 +1 @@\n-new\n\\ No newline at end of file\n+old'
    expect(reverseDiff(diff)).toBe('@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file')
  })

  it('turns lines that look like headers within a change', () => {
    expect(reverseDiff('@@ -1 +1 @@\n--- a\n+++ b')).toBe('@@ -1 +1 @@\n-++ b\n+-- a')
  })

  it('shows what was cut as a note', () => {
    expect(reverseDiff('@@ -1,9 +0,0 @@\n-a\n… 8 more lines')).toBe('@@ -0,0 +1,9 @@\n+a\n\\ … 8 more lines')
  })
})

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
