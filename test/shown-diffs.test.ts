import { revealText } from '@tool-hub/core/lib/escape-text'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DiffLine, parseDiff } from '../packages/console/src/lib/diff.ts'
import { diffView } from '../packages/runtime/src/hub/pipeline/approval-views/diff-views.ts'
import { createRedactor } from '../packages/runtime/src/records/redaction/redact.ts'

const SIGNS = { added: '+', removed: '-', same: ' ', hunk: '', note: '' }

/** Lines that look like parts of a diff, and others. */
const line = fc.oneof(
  fc.constantFrom(
    '--- a',
    '+++ b',
    '---',
    '+++',
    '-- drop table users',
    '++x; evil()',
    '@@ -1 +1 @@',
    '@@ -1,2 +3,4 @@',
  ),
  fc.constantFrom('diff --git a b', 'index 0..1', 'new file', 'deleted file', '\\ No newline at end of file', '\\'),
  fc.constantFrom(
    '',
    ' ',
    '  ',
    '\t',
    '+',
    '-',
    'a\rb',
    'end\u00a0',
    '\u2028',
    '… 3 characters in between are not shown …',
  ),
  fc.string(),
)
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'))
/** Before both texts: so long that they are not compared. */
const padding = fc.constantFrom('', `${'x'.repeat(210_000)}\n`)

describe('a diff that somebody is asked about', () => {
  const redactor = createRedactor({ values: [] }).forDecision()

  it('is in the rows of the console without any loss, whatever the two texts are', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, padding, async (before, after, start) => {
        const { diff } = await diffView(redactor, { path: 'a.txt', before: start + before, after: start + after })
        const rows = parseDiff(diff)
        expect(toLines(rows)).toEqual(withoutHeaders(diff.split('\n')))
        if (before === after) return
        const added = rows.filter(({ kind }) => kind === 'added').map((row) => row.text)
        const removed = rows.filter(({ kind }) => kind === 'removed').map((row) => row.text)
        expect(added).toEqual(expect.arrayContaining(onlyIn(after, before)))
        expect(removed).toEqual(expect.arrayContaining(onlyIn(before, after)))
      }),
      { numRuns: 300 },
    )
  })

  it('shows a line that looks like a header where no hunk follows, and counts it', async () => {
    const start = 'x'.repeat(300_000)
    const before = `${start}\n-- a comment\n`
    const { diff } = await diffView(redactor, { path: 'a.sql', before, after: `${start}\n++x; evil()\n` })
    expect(parseDiff(diff)).toEqual([
      { kind: 'note', text: expect.stringMatching(/^Not compared: /) },
      { kind: 'removed', text: '-- a comment' },
      { kind: 'added', text: '++x; evil()' },
    ])
  })

  it('leaves out two headers and no other line', () => {
    expect(parseDiff('--- a\n+++ b\n@@ -3 +3 @@\n--- a\n+++ b\n')).toEqual([
      { kind: 'hunk', text: '@@ -3 +3 @@' },
      { kind: 'removed', text: '-- a', before: 3 },
      { kind: 'added', text: '++ b', after: 3 },
    ])
    const notes = parseDiff('NOT SHOWN WHOLE: x\n--- a\n+++ b\n@@ -3 +3 @@\n+c').slice(0, 3)
    expect(notes.map(({ kind }) => kind)).toEqual(['note', 'note', 'note'])
  })

  it('numbers no line behind a cut, and reads no sign in the rest of a line', () => {
    expect(parseDiff('@@ -3 +3 @@\n a\n… 9 characters …\n…+rest\n+b\n\\ No newline at end of file')).toEqual([
      { kind: 'hunk', text: '@@ -3 +3 @@' },
      { kind: 'same', text: 'a', before: 3, after: 3 },
      { kind: 'note', text: '… 9 characters …' },
      { kind: 'note', text: '…+rest' },
      { kind: 'added', text: 'b' },
      { kind: 'note', text: 'No newline at end of file' },
    ])
  })

  it('shows the rest of a line behind a cut as such', async () => {
    const after = `${'-evil\n'.repeat(100_000)}`
    const { diff } = await diffView(redactor, { path: 'a', before: undefined, after: `${after}-last` })
    const [first, ...others] = parseDiff(diff)
    expect(first?.text).toMatch(/^NOT SHOWN WHOLE: /)
    expect(others.every(({ kind }) => kind === 'added')).toBe(true)
    expect(others.at(-1)?.text).toBe('-last')
  })
})

function toLines(rows: readonly DiffLine[]): string[] {
  return rows.map(({ kind, text: words }) =>
    kind === 'note' && words.startsWith('No newline') ? `\\ ${words}` : SIGNS[kind] + words,
  )
}

function withoutHeaders(lines: readonly string[]): readonly string[] {
  return lines[2]?.startsWith('@@ ') ? lines.slice(2) : lines
}

/** Lines that one text has and the other has not, as they are shown. */
function onlyIn(texts: string, others: string): string[] {
  if (texts === '') return []
  const known = new Set(others.split('\n'))
  return texts
    .replace(/\n$/, '')
    .split('\n')
    .filter((each) => !known.has(each))
    .map(revealText)
}
