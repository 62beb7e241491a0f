import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { applyPatch } from './apply-patch.ts'

const DESTROY = { policy: [{ allow: 'read:fs' }, { allow: 'write:fs' }, { allow: 'danger:destructive' }] }
const hubOf = (files: Record<string, string | Uint8Array>, options = {}) =>
  fileHub(files, { tools: [applyPatch], ...options })
const wrap = (...lines: string[]) => ({ input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })
const PATCH = 'core/fs.applyPatch'

describe('core/fs.applyPatch', () => {
  it('adds and updates files, and keeps marks and line ends', async () => {
    const { call, read } = hubOf({ 'a.txt': '\ufeffone\r\ntwo\r\n' })
    const patch = wrap('*** Add File: new/b.txt', '+hello', '*** Update File: a.txt', ' one', '-two', '+2', '+3')
    const result = await call(PATCH, patch)
    expect(result).toMatchObject({
      ok: true,
      data: {
        files: [
          { path: 'new/b.txt', change: 'added', added: 1, removed: 0 },
          { path: 'a.txt', change: 'updated', added: 2, removed: 1 },
        ],
      },
      content: [{ text: 'Applied the patch:\nadded new/b.txt (+1 -0)\nupdated a.txt (+2 -1)' }],
    })
    expect(result.evidence).toHaveLength(2)
    expect(read('a.txt')).toBe('\ufeffone\r\n2\r\n3\r\n')
    expect(read('new/b.txt')).toBe('hello\n')
  })

  it('moves and deletes where a rule allows to destroy', async () => {
    const { call, read, root } = hubOf({ 'a.txt': 'one\n', 'dead.bin': Buffer.from([0, 255]) }, DESTROY)
    const patch = wrap('*** Update File: a.txt', '*** Move to: b/a.txt', '-one', '+1', '*** Delete File: dead.bin')
    expect(await call(PATCH, patch)).toMatchObject({
      data: { files: [{ path: 'a.txt', change: 'moved', to: 'b/a.txt', added: 1, removed: 1 }, { change: 'deleted' }] },
    })
    expect(read('b/a.txt')).toBe('1\n')
    expect(readdirSync(root)).toEqual(['b'])
  })

  it('deletes nothing when no rule allows it, and does not do the rest either', async () => {
    const { call, root } = hubOf({ 'a.txt': 'one\n' })
    const result = await call(PATCH, wrap('*** Add File: b.txt', '+x', '*** Delete File: a.txt'))
    expect(result).toMatchObject({ status: 'denied', error: { code: 'POLICY_DENIED' } })
    expect(readdirSync(root)).toEqual(['a.txt'])
  })

  it.each([
    ['an added file that exists', ['*** Add File: b.txt', '+x'], 'CONFLICT'],
    ['a move to a file that exists', ['*** Update File: c.txt', '*** Move to: b.txt'], 'CONFLICT'],
    ['lines that are not there', ['*** Update File: b.txt', '-nothing like it', '+x'], 'NOT_FOUND'],
    ['a missing file', ['*** Update File: missing.txt', '-a', '+b'], 'NOT_FOUND'],
    [
      'one file under two names',
      ['*** Update File: c.txt', '-c', '+d', '*** Delete File: $ROOT/c.txt'],
      'INPUT_SCHEMA_INVALID',
    ],
    ['a path outside', ['*** Add File: ../x.txt', '+x'], 'PATH_OUTSIDE_SANDBOX'],
  ])('changes nothing at all because of %s', async (_, lines, code) => {
    const { call, read, root } = hubOf({ 'a.txt': 'one\n', 'b.txt': 'two\n', 'c.txt': 'c\n' }, DESTROY)
    const patch = wrap('*** Update File: a.txt', '-one', '+1', ...lines.map((line) => line.replace('$ROOT', root)))
    expect((await call(PATCH, patch)).error).toMatchObject({ code })
    expect(['a.txt', 'b.txt', 'c.txt'].map(read)).toEqual(['one\n', 'two\n', 'c\n'])
    expect(readdirSync(root)).toEqual(['a.txt', 'b.txt', 'c.txt'])
  })

  it('says which line of a broken patch is wrong', async () => {
    const { call } = hubOf({})
    expect((await call(PATCH, { input: '*** Begin Patch\nhello' })).error).toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(/^Line 2 of the patch/),
    })
    expect((await call(PATCH, { input: '' })).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('leaves nothing when it is stopped', async () => {
    const { call, root } = hubOf({})
    const patch = wrap('*** Add File: a/b.txt', '+x')
    expect((await call(PATCH, patch, { signal: AbortSignal.abort() })).status).toBe('aborted')
    expect(existsSync(join(root, 'a'))).toBe(false)
  })
})

it('is apply_patch in the coding dialect, also with the argument patch', async () => {
  const { text } = hubOf({})
  expect(await text('apply_patch', wrap('*** Add File: a.txt', '+x'))).toBe('Applied the patch:\nadded a.txt (+1 -0)')
  expect(await text('apply_patch', { patch: wrap('*** Add File: b.txt', '+x').input })).toMatch(/added b\.txt/)
})
