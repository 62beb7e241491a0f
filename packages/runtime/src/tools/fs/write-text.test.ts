import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { readText } from './read-text.ts'
import { writeText } from './write-text.ts'

const hubOf = (files: Record<string, string>, options = {}) =>
  fileHub(files, { tools: [readText, writeText], ...options })
const WRITE = 'core/fs.writeText'

describe('core/fs.writeText', () => {
  it('writes a new file and the folders above it', async () => {
    const { call, read } = hubOf({})
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(await call(WRITE, { path: 'a/b/c.txt', text: 'abc' })).toMatchObject({
      data: { path: 'a/b/c.txt', bytes: 3, sha256 },
      content: [{ text: 'Wrote 3 bytes to a/b/c.txt.' }],
      evidence: [{ type: 'file', ref: 'a/b/c.txt', summary: `3 bytes, sha256 ${sha256}` }],
    })
    expect(read('a/b/c.txt')).toBe('abc')
  })

  it('makes no folders when told not to', async () => {
    const { call } = hubOf({})
    expect((await call(WRITE, { path: 'a/b.txt', text: '', mkdirp: false })).error).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('never replaces a file unless asked', async () => {
    const { call, read } = hubOf({ 'a.txt': 'old' })
    expect((await call(WRITE, { path: 'a.txt', text: 'new' })).error).toMatchObject({ code: 'CONFLICT' })
    expect(read('a.txt')).toBe('old')
  })

  it('replaces what this run has read, and nothing else', async () => {
    const { call, read } = hubOf({ 'a.txt': 'old', 'b.txt': 'old' })
    await call('core/fs.readText', { path: 'a.txt' })
    expect(await call(WRITE, { path: 'a.txt', text: 'new', overwrite: true })).toMatchObject({ ok: true })
    expect(read('a.txt')).toBe('new')
    expect((await call(WRITE, { path: 'b.txt', text: 'new', overwrite: true })).error).toMatchObject({
      code: 'POLICY_DENIED',
    })
    expect(read('b.txt')).toBe('old')
  })

  it('replaces what a rule lets it', async () => {
    const { call, read } = hubOf(
      { 'a.txt': 'old' },
      { policy: [{ allow: 'write:fs' }, { allow: 'danger:destructive' }] },
    )
    expect(await call(WRITE, { path: 'a.txt', text: 'new', overwrite: true })).toMatchObject({ ok: true })
    expect(read('a.txt')).toBe('new')
  })

  it('refuses bad arguments and paths outside, and leaves nothing when it is stopped', async () => {
    const { call, root } = hubOf({})
    expect((await call(WRITE, { path: 'a.txt' })).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    expect((await call(WRITE, { path: '/outside.txt', text: '' })).error).toMatchObject({
      code: 'PATH_OUTSIDE_SANDBOX',
    })
    const stopped = await call(WRITE, { path: 'b/a.txt', text: '' }, { signal: AbortSignal.abort() })
    expect(stopped.status).toBe('aborted')
    expect(readdirSync(root)).toEqual([])
  })
})

describe('the dialects of writeText', () => {
  it.each([
    ['write', { path: 'x/a.txt', content: 'hi' }],
    ['write', { file_path: 'x/a.txt', content: 'hi' }],
    ['write_file', { path: 'x/a.txt', content: 'hi' }],
  ])('%s makes folders and writes', async (tool, input) => {
    const { call, root } = hubOf({})
    expect(await call(tool, input)).toMatchObject({ data: { path: 'x/a.txt', bytes: 2 } })
    expect(existsSync(join(root, 'x/a.txt'))).toBe(true)
  })

  it('write replaces a file that was read, also as a page', async () => {
    const { call, read } = hubOf({ 'a.txt': 'old\n', 'b.txt': 'old\n' })
    await call('read', { path: 'a.txt' })
    expect(await call('write', { path: 'a.txt', content: 'new' })).toMatchObject({ ok: true })
    expect(read('a.txt')).toBe('new')
    expect(await call('write', { path: 'b.txt', content: 'new' })).toMatchObject({ status: 'denied' })
  })
})

describe('write with filePath', () => {
  it('takes an absolute path below the root, and no relative one', async () => {
    const { call, read, root } = hubOf({})
    const relative = await call('write', { filePath: 'rel.txt', content: 'hi' })
    expect(relative.error).toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'filePath must be an absolute path, "rel.txt" is not.',
      fix: { key: 'filePath', hint: expect.stringContaining('use path') },
    })
    expect(await call('write', { filePath: join(root, 'x/abs.txt'), content: 'hi' })).toMatchObject({ ok: true })
    expect(read('x/abs.txt')).toBe('hi')
    expect((await call('write', { filePath: '/etc/outside', content: 'hi' })).error?.code).toBe('PATH_OUTSIDE_SANDBOX')
    expect((await call('write', { path: 'rel.txt', content: 'hi' })).ok).toBe(true)
    expect((await call('write', { filePath: 5, content: 'hi' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })
})
