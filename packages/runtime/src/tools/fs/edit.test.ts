import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { edit } from './edit.ts'

const hubOf = (files: Record<string, string | Uint8Array>) => fileHub(files, { tools: [edit] })
const EDIT = 'core/fs.edit'

describe('core/fs.edit', () => {
  it('replaces one place and says what changed', async () => {
    const { call, read } = hubOf({ 'a.txt': 'one\ntwo\nthree\n' })
    const result = await call(EDIT, { path: 'a.txt', oldText: 'two', newText: '2' })
    const summary = expect.stringMatching(/^1 replacement, 12 bytes, sha256 [0-9a-f]{64}$/)
    expect(result).toMatchObject({
      ok: true,
      data: { path: 'a.txt', replacements: 1, firstChangedLine: 2, bytes: 12 },
      evidence: [{ type: 'file', ref: 'a.txt', summary }],
    })
    expect(result.content).toEqual([
      {
        type: 'text',
        text: 'Changed 1 place in a.txt.\n--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three',
      },
    ])
    expect(read('a.txt')).toBe('one\n2\nthree\n')
  })

  it('keeps mark, line ends and permissions of the file', async () => {
    const { call, read, root } = hubOf({ 'a.sh': '\ufeffone\r\ntwo\nthree' })
    chmodSync(join(root, 'a.sh'), 0o754)
    const edits = [
      { oldText: 'one\n', newText: '1\n' },
      { oldText: 'three', newText: '3' },
    ]
    expect(await call(EDIT, { path: 'a.sh', edits })).toMatchObject({
      ok: true,
      data: { forgiven: ['trailing-space'] },
    })
    expect(read('a.sh')).toBe('\ufeff1\r\ntwo\n3')
    expect(statSync(join(root, 'a.sh')).mode & 0o777).toBe(0o754)
  })

  it.each([
    ['the same text', { oldText: 'a', newText: 'a' }, /the new text must be different from the old text/],
    ['nothing to look for', { oldText: '', newText: 'a' }, /oldText/],
    ['half an edit', { oldText: 'a' }, /needs either the old and the new text, or edits/],
    ['both forms', { oldText: 'a', newText: 'b', edits: [{ oldText: 'a', newText: 'b' }] }, /or edits/],
    ['the same text among edits', { edits: [{ oldText: 'a', newText: 'a' }] }, /must be different/],
    ['half a character', { oldText: '\ude00', newText: 'x' }, /half of a surrogate pair/],
  ])('refuses %s before it looks at the file', async (_, input, message) => {
    const { call } = hubOf({})
    const { error } = await call(EDIT, { path: 'missing.txt', ...input })
    expect(error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID', message: expect.stringMatching(message) })
  })

  it('changes nothing when one of several edits does not fit', async () => {
    const { call, read } = hubOf({ 'a.txt': 'one two' })
    const edits = [
      { oldText: 'one', newText: '1' },
      { oldText: 'three', newText: '3' },
    ]
    expect((await call(EDIT, { path: 'a.txt', edits })).error).toMatchObject({ code: 'NOT_FOUND' })
    expect(read('a.txt')).toBe('one two')
  })

  it('refuses UTF-16, binary and huge files, and paths outside', async () => {
    const { call } = hubOf({
      'utf16.txt': Buffer.from('\ufeffhello', 'utf16le'),
      'a.bin': Buffer.from([1, 0, 2, 0xff]),
      'big.txt': 'x'.repeat(5_300_000),
    })
    const edited = (path: string) => call(EDIT, { path, oldText: 'x', newText: 'y' })
    expect((await edited('utf16.txt')).error?.message).toBe('"utf16.txt" is UTF-16LE; only UTF-8 can be edited.')
    expect((await edited('a.bin')).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect((await edited('big.txt')).error).toMatchObject({ code: 'FILE_TOO_LARGE' })
    expect((await edited('../outside.txt')).error).toMatchObject({ code: 'PATH_OUTSIDE_SANDBOX' })
    expect((await edited('missing.txt')).error).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('makes all of several edits of one file that come concurrently', async () => {
    const lines = Array.from({ length: 8 }, (_, index) => `<${index}>`)
    const { call, read } = hubOf({ 'a.txt': lines.join('\n') })
    const results = await Promise.all(
      lines.map((line, index) => call(EDIT, { path: 'a.txt', oldText: line, newText: `new ${index}` })),
    )
    expect(results.map(({ error }) => error)).toEqual(lines.map(() => undefined))
    expect(read('a.txt')).toBe(lines.map((_, index) => `new ${index}`).join('\n'))
  })

  it('stops when it is stopped', async () => {
    const { call, read } = hubOf({ 'a.txt': 'one' })
    const input = { path: 'a.txt', oldText: 'one', newText: '1' }
    expect(await call(EDIT, input, { signal: AbortSignal.abort() })).toMatchObject({ status: 'aborted' })
    expect(read('a.txt')).toBe('one')
  })
})

describe('edit in the coding dialect', () => {
  it.each([
    ['oldString and newString', { path: 'a.txt', oldString: 'one', newString: '1' }],
    ['old_string and new_string', { file_path: 'a.txt', old_string: 'one', new_string: '1' }],
    ['oldText and newText', { filePath: 'a.txt', oldText: 'one', newText: '1' }],
    ['replace_all', { path: 'a.txt', old_string: 'one', new_string: '1', replace_all: true }],
    ['edits', { path: 'a.txt', edits: [{ oldText: 'one', newText: '1' }] }],
    ['edits in other spellings', { path: 'a.txt', edits: [{ old_string: 'one', newString: '1', replace_all: false }] }],
  ])('takes %s', async (_, input) => {
    const { call, read } = hubOf({ 'a.txt': 'one two' })
    expect((await call('edit', input)).error).toBeUndefined()
    expect(read('a.txt')).toBe('1 two')
  })

  it('says how often a text stands there and what to do', async () => {
    const { text } = hubOf({ 'a.txt': 'x\nx\n' })
    expect(await text('edit', { path: 'a.txt', oldString: 'x', newString: 'y' })).toBe(
      'CONFLICT: The old text stands 2 times in "a.txt", at lines 1, 2. Give more lines around the one you mean, or set replaceAll to change all of them. Nothing was changed.',
    )
  })
})
