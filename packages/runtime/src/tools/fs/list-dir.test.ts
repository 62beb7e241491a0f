import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { listDir } from './list-dir.ts'

const FILES = { 'b.txt': 'hello', '.hidden': '', 'sub/c.txt': '', 'sub/deep/d.txt': '' }
const hubOf = (files: Record<string, string>) => fileHub(files, { tools: [listDir] })
const LIST = 'core/fs.listDir'

describe('core/fs.listDir', () => {
  it('lists a folder with type, size and time', async () => {
    const { call } = hubOf(FILES)
    const result = await call(LIST, { path: '.' })
    const mtime = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(result.data).toEqual({
      entries: [
        { name: 'b.txt', type: 'file', size: 5, mtime },
        { name: 'sub', type: 'directory', size: expect.any(Number), mtime },
      ],
      isComplete: true,
    })
    expect(result.evidence).toEqual([{ type: 'file', ref: '.', summary: '2 entries' }])
  })

  it('goes down when asked, and only as deep as asked', async () => {
    const { call } = hubOf(FILES)
    const names = async (input: object) => {
      const { data } = await call(LIST, { path: '.', recursive: true, ...input })
      return (data as { entries: { name: string }[] }).entries.map(({ name }) => name)
    }
    expect(await names({ includeHidden: true })).toEqual([
      '.hidden',
      'b.txt',
      'sub',
      'sub/c.txt',
      'sub/deep',
      'sub/deep/d.txt',
    ])
    expect(await names({ maxDepth: 2 })).toEqual(['b.txt', 'sub', 'sub/c.txt', 'sub/deep'])
  })

  it('says when it leaves entries out', async () => {
    const { call, text } = hubOf(FILES)
    const result = await call(LIST, { path: '.', maxEntries: 1 })
    expect(result).toMatchObject({ data: { entries: [{ name: 'b.txt' }], isComplete: false }, meta: { truncated: {} } })
    expect(await text('ls', { limit: 1 })).toBe(
      '.hidden\nNotice: .: some entries were left out: the limit is 1 entries.',
    )
  })

  it('says which limit left entries out', async () => {
    const { call } = hubOf(FILES)
    const notices = async (input: object) => (await call(LIST, { path: '.', ...input })).meta.notices
    expect(await notices({ maxEntries: 1 })).toEqual(['.: some entries were left out: the limit is 1 entries.'])
    expect(await notices({ recursive: true, maxDepth: 2 })).toEqual([
      '.: some entries were left out: those below maxDepth 2, or that could not be read.',
    ])
  })

  it.each([
    ['a path outside', { path: '..' }, 'PATH_OUTSIDE_SANDBOX'],
    ['a missing folder', { path: 'missing' }, 'NOT_FOUND'],
    ['too many entries', { path: '.', maxEntries: 5_001 }, 'INPUT_SCHEMA_INVALID'],
    ['too deep a walk', { path: '.', maxDepth: 11 }, 'INPUT_SCHEMA_INVALID'],
  ])('refuses %s', async (_, input, code) => {
    expect((await hubOf(FILES).call(LIST, input)).error).toMatchObject({ code })
  })

  it('stops when it is stopped', async () => {
    const { call } = hubOf(FILES)
    expect((await call(LIST, { path: '.' }, { signal: AbortSignal.abort() })).status).toBe('aborted')
  })
})

describe('the dialects of listDir', () => {
  it('ls gives one name a line, hidden ones too', async () => {
    const { text, root } = hubOf(FILES)
    symlinkSync('b.txt', join(root, 'link'))
    expect(await text('ls', {})).toBe('.hidden\nb.txt\nlink@\nsub/')
    expect(await text('ls', { path: 'sub/deep' })).toBe('d.txt')
  })

  it('list_files gives sizes', async () => {
    const { text } = hubOf(FILES)
    expect(await text('list_files', { path: '.' })).toBe('b.txt  5 bytes\nsub/')
  })
})
