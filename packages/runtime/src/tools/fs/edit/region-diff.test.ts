import { applyPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { applyEdits } from './apply-edits.ts'
import { regionDiff } from './region-diff.ts'

function diffOf(text: string, edits: Parameters<typeof applyEdits>[1], options: { maxChars?: number } = {}) {
  const { text: after, replacements } = applyEdits(text, edits, { path: 'a' })
  return { after, ...regionDiff(text, replacements, { path: 'a', ...options }) }
}

const numbered = (length: number) => Array.from({ length }, (_, index) => `line ${index + 1};\n`).join('')

describe('the diff of an edit', () => {
  it('shows four lines around the change and its line', () => {
    const { diff, firstChangedLine } = diffOf(numbered(20), [{ oldText: 'line 10;', newText: 'ten' }])
    expect(firstChangedLine).toBe(10)
    expect(diff.split('\n')).toEqual([
      '--- a',
      '+++ a',
      '@@ -6,9 +6,9 @@',
      ...[6, 7, 8, 9].map((line) => ` line ${line};`),
      '-line 10;',
      '+ten',
      ...[11, 12, 13, 14].map((line) => ` line ${line};`),
    ])
  })

  it('leaves lines of the old text that stay out of it', () => {
    const { diff, firstChangedLine } = diffOf('a\nb\nc\nd\n', [{ oldText: 'a\nb\nc', newText: 'a\nB\nc' }])
    expect(firstChangedLine).toBe(2)
    expect(diff).toBe('--- a\n+++ a\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d')
  })

  it('says where a file has no line end', () => {
    expect(diffOf('a', [{ oldText: 'a', newText: 'b' }]).diff).toBe(
      '--- a\n+++ a\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file',
    )
  })

  it('can be applied to the old text and gives the new one', () => {
    const word = fc.constantFrom('a', 'b', 'c', '\n', '\n', 'é')
    const text = fc.string({ unit: word, maxLength: 80 })
    fc.assert(
      fc.property(
        text,
        fc.string({ unit: word, minLength: 1, maxLength: 3 }),
        fc.string({ unit: word, maxLength: 5 }),
        (file, oldText, newText) => {
          fc.pre(file.includes(oldText) && oldText !== newText && file.replaceAll(oldText, newText) !== file)
          const { diff, after } = diffOf(file, [{ oldText, newText, replaceAll: true }])
          expect(after).toBe(file.replaceAll(oldText, newText))
          expect(applyPatch(file, `${diff}\n`, { autoConvertLineEndings: false })).toBe(after)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('is written however many lines one edit changes', () => {
    const lines = 400_000
    const { diff, after } = diffOf('x\n'.repeat(lines), [
      { oldText: 'x\n'.repeat(lines), newText: 'y\n'.repeat(lines) },
    ])
    expect(after).toBe('y\n'.repeat(lines))
    expect(diff).toContain(`@@ -1,${lines} +1,${lines} @@\n-x\n`)
    expect(diff.length).toBeLessThan(21_000)
  })

  it('stays short and says what is left out', () => {
    const { diff } = diffOf(numbered(5_000), [{ oldText: ';', newText: '!', replaceAll: true }], { maxChars: 2_000 })
    expect(diff.length).toBeLessThan(2_200)
    expect(diff).toMatch(/… \[\d+ lines of the diff left out\]\n… \[4800 more changes left out\]$/)
  })

  it('finds its line in a large file', () => {
    const before = numbered(400_000)
    const { replacements } = applyEdits(before, [{ oldText: 'line 399999;', newText: 'x' }], { path: 'a' })
    expect(regionDiff(before, replacements, { path: 'a' }).firstChangedLine).toBe(399_999)
  })

  it('looks for the end of a line once, however many changes are in it', () => {
    const before = `${'a-'.repeat(5_000)}\nnext\n`
    const { replacements } = applyEdits(before, [{ oldText: 'a', newText: 'b', replaceAll: true }], { path: 'a' })
    const searches = vi.spyOn(String.prototype, 'indexOf')
    onTestFinished(() => searches.mockRestore())
    expect(regionDiff(before, replacements, { path: 'a' }).firstChangedLine).toBe(1)
    expect(searches.mock.calls.length).toBeLessThan(100)
  })
})
