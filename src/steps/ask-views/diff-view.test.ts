import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../record/redact.ts'
import { diffView } from './diff-view.ts'

const SECRET = 'the-owners-own-secret'
const redactor = createRedactor({ values: [SECRET] })
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

  it('shows what fits the limits whole', async () => {
    expect((await show(undefined, numbered(1_990))).diff.split('\n')).toHaveLength(1_993)
    const long = 'x'.repeat(199_000)
    expect((await show(`${long}\na\n`, `${long}\nb\n`)).diff).toContain('\n-a\n+b')
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
