import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { WriteFiles } from '../../define.ts'
import { ToolError } from '../../errors.ts'
import { sha256 } from '../../value/hash.ts'
import { createFilesGuard, type FilesCall, type FilesGuard } from './files-guard.ts'

let base: string
let root: string
let guard: FilesGuard

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'write-text-'))
  root = join(base, 'ws')
  await mkdir(root)
  await mkdir(join(base, 'out'))
  await writeFile(join(root, 'old.txt'), 'old')
  await writeFile(join(base, 'out/secret.txt'), 'SECRET')
  guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 1000 })
})

afterEach(async () => {
  guard.close()
  await rm(base, { recursive: true })
})

const never = new AbortController().signal
const writer = (call: Partial<FilesCall> = {}) =>
  guard.handle({ signal: () => never, canWrite: true, canOverwrite: true, ...call }) as WriteFiles
const code = (expected: string) => expect.objectContaining({ code: expected })
const content = (path: string) => readFile(join(root, path), 'utf8')

it('writes a new file with its folders and tells bytes and hash', async () => {
  expect(await writer().writeText('p/q/é.txt', 'grüße')).toEqual({ bytes: 7, sha256: sha256('grüße') })
  expect(await content('p/q/é.txt')).toBe('grüße')
  expect(await readdir(join(root, 'p/q'))).toEqual(['é.txt'])
})

it('makes no folders when told not to', async () => {
  await expect(writer().writeText('p/x.txt', 'x', { mkdirp: false })).rejects.toThrow(code('NOT_FOUND'))
  expect(await readdir(root)).toEqual(['old.txt'])
})

it('does not touch a file that exists, unless it is to be overwritten and may be', async () => {
  await expect(writer().writeText('old.txt', 'new')).rejects.toThrow(
    expect.objectContaining({ code: 'CONFLICT', fix: expect.objectContaining({ key: 'overwrite', value: true }) }),
  )
  const cautious = writer({ canOverwrite: false })
  await expect(cautious.writeText('old.txt', 'new', { overwrite: true })).rejects.toThrow(code('POLICY_DENIED'))
  expect(await content('old.txt')).toBe('old')
  await cautious.writeText('new.txt', 'new', { overwrite: true })
  await writer().writeText('old.txt', 'new', { overwrite: true })
  expect(await content('old.txt')).toBe('new')
})

it('keeps the mode bits of a file it overwrites, but never setuid', async () => {
  await chmod(join(root, 'old.txt'), 0o4751)
  await writer().writeText('old.txt', 'new', { overwrite: true })
  expect((await stat(join(root, 'old.txt'))).mode & 0o7777).toBe(0o751)
})

it('lets exactly one of many writers make a file', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => writer().writeText('one.txt', `${index}`)),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await readdir(root)).toEqual(['old.txt', 'one.txt'])
})

it('also between guards, which share no queue', async () => {
  const other = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 1000 })
  const handles = [writer(), other.handle({ signal: () => never, canWrite: true, canOverwrite: false }) as WriteFiles]
  for (let round = 0; round < 20; round += 1) {
    const results = await Promise.allSettled(
      handles.map((handle, index) => handle.writeText(`${round}.txt`, `${index}`)),
    )
    const winner = results.findIndex(({ status }) => status === 'fulfilled')
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await content(`${round}.txt`)).toBe(`${winner}`)
  }
  other.close()
})

it('writes to one path in the order of the calls', async () => {
  await Promise.all(
    Array.from({ length: 10 }, (_, index) => writer().writeText('old.txt', `${index}`, { overwrite: true })),
  )
  expect(await content('old.txt')).toBe('9')
})

it('writes through no link, not in a folder and not at the end', async () => {
  await symlink('../out', join(root, 'd'))
  await symlink('../out/secret.txt', join(root, 'l'))
  await symlink('old.txt', join(root, 'inside'))
  const overwrite = { overwrite: true }
  for (const path of ['d/new.txt', 'd/p/q.txt', 'l', 'd/secret.txt']) {
    await expect(writer().writeText(path, 'x', overwrite)).rejects.toThrow(code('PATH_OUTSIDE_SANDBOX'))
  }
  await expect(writer().writeText('inside', 'x', overwrite)).rejects.toThrow(code('PATH_DENIED'))
  expect(await readdir(join(base, 'out'))).toEqual(['secret.txt'])
  expect(await readFile(join(base, 'out/secret.txt'), 'utf8')).toBe('SECRET')
  expect(await readlink(join(root, 'inside'))).toBe('old.txt')
})

it('replaces no folder, pipe or protected file', async () => {
  execFileSync('mkfifo', [join(root, 'pipe')])
  await mkdir(join(root, 'folder'))
  const write = (path: string) => writer().writeText(path, 'x', { overwrite: true })
  await expect(write('pipe')).rejects.toThrow(code('PATH_DENIED'))
  await expect(write('folder')).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
  await expect(write('new/')).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
  await expect(write('old.txt/x')).rejects.toThrow(code('NOT_FOUND'))
  await expect(write('.git/hooks/pre-commit')).rejects.toThrow(code('PATH_DENIED'))
  expect(await readdir(root)).toEqual(['folder', 'old.txt', 'pipe'])
})

it('refuses text that UTF-8 cannot hold, and more than the rule lets through', async () => {
  await expect(writer().writeText('x.txt', 'a\udc00')).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
  await expect(writer({ maxBytes: 3 }).writeText('x.txt', 'éé')).rejects.toThrow(/4 bytes, the limit is 3/)
  expect(await readdir(root)).toEqual(['old.txt'])
})

it('asks for permission before it makes anything', async () => {
  const permits = (path: string, access: string) => {
    throw new ToolError('POLICY_DENIED', `${access} ${path}`)
  }
  await expect(writer({ permits }).writeText('p/q.txt', 'x')).rejects.toThrow(`write ${join(root, 'p/q.txt')}`)
  expect(await readdir(root)).toEqual(['old.txt'])
})

it('leaves the old file and no temporary one when it is stopped in the middle', async () => {
  const stop = new AbortController()
  const writing = writer({ signal: () => stop.signal }).writeText('old.txt', 'x'.repeat(32_000_000), {
    overwrite: true,
  })
  setImmediate(() => stop.abort(new ToolError('TIMEOUT', 'The time is over.')))
  await expect(writing).rejects.toThrow(code('TIMEOUT'))
  expect(await content('old.txt')).toBe('old')
  expect(await readdir(root)).toEqual(['old.txt'])
})

it('finishes what it began when the guard is closed, and begins nothing more', async () => {
  const writes = [writer().writeText('a.txt', 'a'), writer().writeText('a.txt', 'b', { overwrite: true })]
  guard.close()
  const [first, second] = await Promise.allSettled(writes)
  expect(first?.status).toBe('fulfilled')
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'SANDBOX_UNAVAILABLE' } })
  expect(await content('a.txt')).toBe('a')
})

it('closes every descriptor', async () => {
  const count = async () => (await readdir('/proc/self/fd')).length
  const before = await count()
  for (let round = 0; round < 10; round += 1) {
    const paths = [`p${round}/q/r.txt`, 'old.txt', 'old.txt/x', '../out/x', `s${round}.txt`]
    await Promise.allSettled(paths.map((path) => writer().writeText(path, 'x')))
  }
  expect(await count()).toBe(before)
})
