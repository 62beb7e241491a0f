import { describe, expect, it } from 'vitest'
import { reverseDiff } from './reverse-diff.ts'

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
