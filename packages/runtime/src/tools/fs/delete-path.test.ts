import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { deletePath } from './delete-path.ts'

const FILES = { 'a.txt': 'hello', 'folder/b.txt': 'hi', 'folder/.c': 'x', 'folder/sub/d.txt': '' }
const ALLOWED = { policy: [{ allow: 'write:fs' }, { allow: 'read:fs' }, { allow: 'danger:destructive' }] }
const hubOf = (options: object = ALLOWED) => fileHub(FILES, { tools: [deletePath], ...options })
const DELETE = 'core/fs.deletePath'

it('is off unless a rule allows it', async () => {
  const { call, root } = hubOf({})
  expect((await call(DELETE, { path: 'a.txt', confirm: true })).error).toMatchObject({ code: 'POLICY_DENIED' })
  expect(existsSync(join(root, 'a.txt'))).toBe(true)
})

it('only tells what would be deleted until it is confirmed', async () => {
  const { call, root } = hubOf()
  expect((await call(DELETE, { path: 'folder', recursive: true })).error).toMatchObject({
    code: 'INPUT_SCHEMA_INVALID',
    message: 'Nothing was deleted. "folder" is a folder with 3 files and 1 folder in it, 3 bytes.',
    fix: { key: 'confirm', value: true },
  })
  expect((await call(DELETE, { path: 'a.txt', confirm: false })).error?.message).toBe(
    'Nothing was deleted. "a.txt" is a file of 5 bytes.',
  )
  expect(existsSync(join(root, 'a.txt')) && existsSync(join(root, 'folder/b.txt'))).toBe(true)
})

it('deletes a file, and a folder when told to delete what is in it', async () => {
  const { call, root } = hubOf()
  expect(await call(DELETE, { path: 'a.txt', confirm: true })).toMatchObject({
    data: { path: 'a.txt', type: 'file', files: 1, bytes: 5 },
    evidence: [{ type: 'file', ref: 'a.txt', summary: 'deleted: file, 1 file, 5 bytes' }],
  })
  expect((await call(DELETE, { path: 'folder', confirm: true })).ok).toBe(false)
  expect(existsSync(join(root, 'folder'))).toBe(true)
  expect(await call(DELETE, { path: 'folder', confirm: true, recursive: true })).toMatchObject({
    data: { type: 'directory', files: 3, bytes: 3 },
    content: [{ text: 'Deleted folder with 3 files, 3 bytes.' }],
  })
  expect(existsSync(join(root, 'folder'))).toBe(false)
})

it('refuses what is outside or missing, and stops when it is stopped', async () => {
  const { call, root } = hubOf()
  expect((await call(DELETE, { path: '..', confirm: true })).error).toMatchObject({ code: 'PATH_OUTSIDE_SANDBOX' })
  expect((await call(DELETE, { path: 'missing', confirm: true })).error).toMatchObject({ code: 'NOT_FOUND' })
  expect((await call(DELETE, { path: 'a.txt', confirm: 'yes' })).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  const stopped = await call(DELETE, { path: 'a.txt', confirm: true }, { signal: AbortSignal.abort() })
  expect(stopped.status).toBe('aborted')
  expect(existsSync(join(root, 'a.txt'))).toBe(true)
})
