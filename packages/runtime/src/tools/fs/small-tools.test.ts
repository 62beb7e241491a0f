import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { copy } from './copy.ts'
import { mkdir } from './mkdir.ts'
import { move } from './move.ts'
import { sha256File } from './sha256-file.ts'
import { stat } from './stat.ts'

const FILES = { 'a.txt': 'abc', 'folder/b.txt': 'hi', 'folder/sub/c.txt': '' }
const hubOf = () => fileHub(FILES, { tools: [copy, mkdir, move, sha256File, stat] })
const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'

it('core/fs.stat tells what a path is', async () => {
  const { call } = hubOf()
  expect(await call('core/fs.stat', { path: 'a.txt' })).toMatchObject({
    data: {
      path: 'a.txt',
      type: 'file',
      bytes: 3,
      modified: expect.stringMatching(/Z$/),
      mode: expect.stringMatching(/^06\d\d$/),
    },
    evidence: [{ type: 'file', ref: 'a.txt' }],
  })
  expect((await call('core/fs.stat', { path: 'folder' })).data).toMatchObject({ type: 'directory' })
})

it('core/fs.sha256 hashes a file', async () => {
  const { call } = hubOf()
  expect(await call('core/fs.sha256', { path: 'a.txt' })).toMatchObject({
    data: { sha256: ABC, bytes: 3 },
    evidence: [{ type: 'file', ref: 'a.txt', summary: `3 bytes, sha256 ${ABC}` }],
  })
})

it('core/fs.mkdir makes folders, and says when there was one', async () => {
  const { call, root } = hubOf()
  expect((await call('core/fs.mkdir', { path: 'x/y' })).data).toEqual({ path: 'x/y', created: true })
  expect((await call('core/fs.mkdir', { path: 'x/y' })).data).toEqual({ path: 'x/y', created: false })
  expect((await call('core/fs.mkdir', { path: 'p/q', mkdirp: false })).error).toMatchObject({ code: 'NOT_FOUND' })
  expect(existsSync(join(root, 'p'))).toBe(false)
})

it('core/fs.move moves files and folders to a free name only', async () => {
  const { call, read, root } = hubOf()
  expect((await call('core/fs.move', { from: 'a.txt', to: 'new/a.txt' })).data).toEqual({
    from: 'a.txt',
    to: 'new/a.txt',
  })
  expect(read('new/a.txt')).toBe('abc')
  expect((await call('core/fs.move', { from: 'folder', to: 'other' })).ok).toBe(true)
  expect(read('other/sub/c.txt')).toBe('')
  expect((await call('core/fs.move', { from: 'new/a.txt', to: 'other/b.txt' })).error).toMatchObject({
    code: 'CONFLICT',
  })
  expect(existsSync(join(root, 'new/a.txt'))).toBe(true)
})

it('core/fs.move makes nothing readable that a rule closes', async () => {
  const policy = [{ deny: 'read:fs', on: '**/private/**' }]
  const { call, read } = fileHub({ 'private/pin.txt': '4711' }, { policy })
  for (const from of ['private/pin.txt', 'private'])
    expect((await call('core/fs.move', { from, to: 'open' })).error).toMatchObject({ code: 'PATH_DENIED' })
  expect((await call('core/fs.move', { from: 'private/pin.txt', to: 'private/new.txt' })).ok).toBe(true)
  expect(read('private/new.txt')).toBe('4711')
})

it('core/fs.copy copies files and folders, without links', async () => {
  const { call, read, root } = hubOf()
  symlinkSync('b.txt', join(root, 'folder/link'))
  expect(await call('core/fs.copy', { from: 'folder', to: 'new/copy' })).toMatchObject({
    data: { from: 'folder', to: 'new/copy', files: 2, bytes: 2, skipped: 1 },
    content: [{ text: 'Copied folder to new/copy: 2 files, 2 bytes; 1 links or special files left out.' }],
  })
  expect(read('new/copy/b.txt')).toBe('hi')
  expect(existsSync(join(root, 'new/copy/link'))).toBe(false)
  expect((await call('core/fs.copy', { from: 'a.txt', to: 'folder/b.txt' })).error).toMatchObject({ code: 'CONFLICT' })
})

describe.each([
  ['core/fs.stat', { path: '../x' }],
  ['core/fs.sha256', { path: '../x' }],
  ['core/fs.mkdir', { path: '../x' }],
  ['core/fs.move', { from: 'a.txt', to: '../x' }],
  ['core/fs.copy', { from: 'a.txt', to: '../x' }],
])('%s', (name, outside) => {
  it('refuses what is outside, refuses bad arguments, and stops when it is stopped', async () => {
    const { call } = hubOf()
    expect((await call(name, outside)).error).toMatchObject({ code: 'PATH_OUTSIDE_SANDBOX' })
    expect((await call(name, {})).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect((await call(name, { ...outside, extra: 1 })).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect((await call(name, outside, { signal: AbortSignal.abort() })).status).toBe('aborted')
  })
})
