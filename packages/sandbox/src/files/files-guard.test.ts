import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FILES_LEVEL } from '../../../../test/support/files-level.ts'
import { countOpenFiles } from '../../../../test/support/left-behind.ts'
import type { ReadFiles } from '../../../core/src/handles.ts'
import type { FilesCall } from './files-call.ts'
import { createFilesGuard, type FilesGuard } from './files-guard.ts'

let base: string
let root: string
let guard: FilesGuard

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'files-guard-'))
  root = join(base, 'ws')
  for (const folder of ['ws/a/b', 'ws-evil', 'out', 'library/sub']) await mkdir(join(base, folder), { recursive: true })
  await writeFile(join(root, 'a/b/c.txt'), 'in')
  for (const path of ['out/secret.txt', 'ws-evil/secret.txt']) await writeFile(join(base, path), 'SECRET')
  await writeFile(join(base, 'library/sub/x.txt'), 'library')
  guard = createFilesGuard({
    roots: [
      { path: root, mode: 'write' },
      { path: join(base, 'library'), mode: 'read' },
    ],
    maxReadBytes: 1000,
  })
})

afterEach(async () => {
  guard.close()
  await rm(base, { recursive: true })
})

const never = new AbortController().signal
const reader = (call: Partial<FilesCall> = {}) =>
  guard.handle({ signal: () => never, canRead: true, canWrite: false, canOverwrite: false, ...call }) as ReadFiles
const read = (path: string, call?: Partial<FilesCall>) => reader(call).readText(path)
const code = (expected: string) => expect.objectContaining({ code: expected })

describe('reading', () => {
  it('reads below the first root by relative path and below any root by absolute path', async () => {
    expect(await read('a/./b/../b/c.txt')).toBe('in')
    expect(await read(join(root, 'a/b/c.txt'))).toBe('in')
    expect(await read(join(base, 'library/sub/x.txt'))).toBe('library')
  })

  it('refuses every way out, siblings with the same prefix and detours that come back', async () => {
    const ways = [
      '../out/secret.txt',
      'a/../../out/secret.txt',
      '../ws/a/b/c.txt',
      '/etc/passwd',
      '/../etc/passwd',
      '//etc/passwd',
    ]
    const spelled = [`${root}-evil/secret.txt`, `${root}/../out/secret.txt`, `${root}/../ws/a/b/c.txt`, base, '/']
    for (const path of [...ways, ...spelled]) await expect(read(path)).rejects.toThrow(code('PATH_OUTSIDE_SANDBOX'))
  })

  it('says that a file is missing, also when a part of its path is a file', async () => {
    for (const path of ['no.txt', 'no/no.txt', 'a/b/c.txt/d', '~/.ssh/x', 'C:\\x']) {
      await expect(read(path)).rejects.toThrow(code('NOT_FOUND'))
    }
  })

  it('refuses folders, however they are spelled', async () => {
    for (const path of ['a', '.', 'a/', 'a/b/c.txt/', root])
      await expect(read(path)).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
  })

  it('follows links that stay inside, also into another root, and none that leave', async () => {
    await symlink('../a/b', join(root, 'a/l1'))
    await symlink('a/l1/c.txt', join(root, 'l2'))
    await symlink(join(base, 'library/sub'), join(root, 'l3'))
    expect(await read('l2')).toBe('in')
    expect(await read('l3/x.txt')).toBe('library')
    const ways = { l4: '../out', l5: '/', l6: '/proc/self/root', l7: '/dev/zero', l8: join(base, 'out/secret.txt') }
    for (const [name, to] of Object.entries(ways)) {
      await symlink(to, join(root, name))
      await expect(read(name)).rejects.toThrow(code('PATH_OUTSIDE_SANDBOX'))
      await expect(read(`${name}/secret.txt`)).rejects.toThrow(code('PATH_OUTSIDE_SANDBOX'))
    }
  })

  it('gives up on links that lead in a circle', async () => {
    await symlink('y', join(root, 'x'))
    await symlink('x', join(root, 'y'))
    await expect(read('x')).rejects.toThrow(/more than 8 links/)
    expect(() => guard.resolve('x', 'read')).toThrow(code('PATH_DENIED'))
  })

  it('never hangs on a pipe and reads no device', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')])
    await expect(read('pipe')).rejects.toThrow(code('PATH_DENIED'))
    const devices = createFilesGuard({ roots: [{ path: '/dev', mode: 'read' }], maxReadBytes: 1000 })
    const call = { signal: () => never, canRead: true, canWrite: false, canOverwrite: false }
    const handle = devices.handle(call) as ReadFiles
    await expect(handle.readText('zero')).rejects.toThrow(code('PATH_DENIED'))
    devices.close()
  })

  it('keeps to the smallest limit and says the numbers', async () => {
    await writeFile(join(root, 'long.txt'), 'x'.repeat(1001))
    await writeFile(join(root, 'sparse.bin'), '')
    await truncate(join(root, 'sparse.bin'), 2 ** 40)
    await expect(read('long.txt')).rejects.toThrow(/1001 bytes, the limit is 1000/)
    await expect(read('sparse.bin')).rejects.toThrow(code('FILE_TOO_LARGE'))
    await expect(read('a/b/c.txt', { maxBytes: 1 })).rejects.toThrow(/2 bytes, the limit is 1/)
    await expect(reader().readText('long.txt', { maxBytes: 9999 })).rejects.toThrow(code('FILE_TOO_LARGE'))
  })

  it('returns exact text and refuses bytes that are no UTF-8', async () => {
    const text = 'é\r\n\u0000𝄞'
    await writeFile(join(root, 'text.txt'), text)
    await writeFile(join(root, 'binary.bin'), Buffer.from([0x89, 0x50, 0xff]))
    expect(await read('text.txt')).toBe(text)
    await expect(read('binary.bin')).rejects.toThrow(/no valid UTF-8 at byte 0/)
  })

  it('asks for permission with the path that was really opened', async () => {
    await symlink('a/b/c.txt', join(root, 'l'))
    const asked: string[] = []
    await read('l', { permits: (path, access) => asked.push(`${access} ${path}`) })
    expect(asked).toEqual([`read ${join(root, 'a/b/c.txt')}`])
    const refuse = () => {
      throw new Error('not decided')
    }
    await expect(read('l', { permits: refuse })).rejects.toThrow('not decided')
  })

  it('stops before it opens anything when the call was stopped', async () => {
    await expect(read('a/b/c.txt', { signal: () => AbortSignal.abort() })).rejects.toThrow(code('ABORTED'))
  })

  it('leaves no descriptor open, whatever happens', async () => {
    await symlink('../out', join(root, 'out'))
    const before = countOpenFiles()
    for (let round = 0; round < 50; round += 1) {
      const paths = ['a/b/c.txt', 'a/b/no.txt', 'no/no/no.txt', 'a', 'out/secret.txt', 'a/b/c.txt/x']
      await Promise.allSettled(paths.map((path) => read(path)))
      for (const path of paths) {
        try {
          guard.resolve(path, 'read')
        } catch {
          // Only the descriptors matter here.
        }
      }
    }
    expect(countOpenFiles()).toBe(before)
  })
})

describe('the handle', () => {
  const rights = { signal: () => never, canRead: false, canWrite: false, canOverwrite: false }
  const READS = ['readText', 'readFile', 'readBytes', 'readLines', 'stat', 'sha256', 'list', 'search', 'find'] as const
  const CHANGES = ['writeText', 'writeBytes', 'changeAll', 'makeFolder', 'move', 'copy', 'remove'] as const

  it('has what the call may do and nothing else', () => {
    for (const canRead of [true, false]) {
      for (const canWrite of [true, false]) {
        const handle = guard.handle({ ...rights, canRead, canWrite })
        expect(READS.filter((name) => typeof handle[name] === 'function')).toEqual(canRead ? READS : [])
        expect(CHANGES.filter((name) => typeof handle[name] === 'function')).toEqual(canWrite ? CHANGES : [])
      }
    }
  })

  it('reads the same whether it may write or not', async () => {
    const handle = guard.handle({ ...rights, canRead: true, canWrite: true }) as ReadFiles
    expect(await handle.readText('a/b/c.txt')).toBe('in')
  })

  it('has only its methods, so a tool cannot change other handles or see what the guard knows about the call', async () => {
    const handle = guard.handle({ ...rights, canRead: true })
    expect(Reflect.ownKeys(handle).toSorted()).toEqual(READS.toSorted())
    expect(Object.values(handle).every((method) => typeof method === 'function')).toBe(true)
    expect(Object.getPrototypeOf(handle)).toBe(Object.prototype)
    Object.assign(handle, { readText: () => 'replaced' })
    const other = guard.handle({ ...rights, canRead: true }) as ReadFiles
    expect(await other.readText('a/b/c.txt')).toBe('in')
  })
})

describe('resolve', () => {
  it('tells the real path for policy, of what exists and of what does not yet', async () => {
    await symlink('a', join(root, 'l'))
    expect(guard.resolve('l/b/c.txt', 'read')).toBe(join(root, 'a/b/c.txt'))
    expect(guard.resolve('l/new/file.txt', 'read')).toBe(join(root, 'a/new/file.txt'))
    expect(guard.resolve('p/q/r.txt', 'write')).toBe(join(root, 'p/q/r.txt'))
    expect(guard.resolve('.', 'read')).toBe(root)
    expect(await readdir(root)).toEqual(['a', 'l'])
  })

  it('refuses a change through a link and names where it leads', async () => {
    await symlink('a', join(root, 'l'))
    await symlink('../out', join(root, 'out'))
    expect(() => guard.resolve('l/x.txt', 'write')).toThrow(
      expect.objectContaining({ code: 'PATH_DENIED', fix: { hint: expect.stringContaining(join(root, 'a/x.txt')) } }),
    )
    expect(() => guard.resolve('out/x.txt', 'write')).toThrow(code('PATH_OUTSIDE_SANDBOX'))
  })

  it('refuses secrets, protected paths and changes below a root that is only read', () => {
    expect(() => guard.resolve('server.key', 'read')).toThrow(code('PATH_DENIED'))
    expect(() => guard.resolve('.git/config', 'write')).toThrow(code('PATH_DENIED'))
    expect(() => guard.resolve(join(base, 'library/new.txt'), 'write')).toThrow(/only be read/)
  })
})

it('says a path in errors as it was written', async () => {
  for (const path of ['no/such.txt', './a/../nowhere.txt', 'a'])
    await expect(read(path)).rejects.toThrow(expect.objectContaining({ message: expect.stringContaining(`"${path}"`) }))
  expect(() => guard.resolve('.git/config', 'write')).toThrow('".git/config" is run or trusted')
})

describe('roots', () => {
  it('must exist and be folders', () => {
    for (const path of [join(base, 'missing'), join(root, 'a/b/c.txt')]) {
      expect(() => createFilesGuard({ roots: [{ path, mode: 'read' }], maxReadBytes: 1 })).toThrow(
        code('CONFIG_INVALID'),
      )
    }
  })

  it('stay the folders they were when somebody swaps one for a link', async () => {
    await rename(root, join(base, 'moved'))
    await symlink(join(base, 'out'), root)
    if (FILES_LEVEL === 'descriptors') expect(await read('a/b/c.txt')).toBe('in')
    else await expect(read('a/b/c.txt')).rejects.toMatchObject({ code: 'CONFLICT', retryable: true })
    await expect(read('secret.txt')).rejects.toThrow(code(FILES_LEVEL === 'descriptors' ? 'NOT_FOUND' : 'CONFLICT'))
  })

  it('may be named by a link; both spellings work', async () => {
    await symlink(root, join(base, 'alias'))
    const aliased = createFilesGuard({ roots: [{ path: join(base, 'alias'), mode: 'read' }], maxReadBytes: 10 })
    expect(aliased.resolve(join(base, 'alias/a/b/c.txt'), 'read')).toBe(join(root, 'a/b/c.txt'))
    expect(aliased.resolve(join(root, 'a/b/c.txt'), 'read')).toBe(join(root, 'a/b/c.txt'))
    aliased.close()
  })

  it('inside another root keep their own mode, and folders of tool-hub stay closed around them', () => {
    const nested = createFilesGuard({
      roots: [
        { path: base, mode: 'write' },
        { path: join(base, 'library'), mode: 'read' },
        { path: join(root, 'a'), mode: 'write' },
      ],
      maxReadBytes: 10,
      protect: [join(base, 'plugins')],
      hidden: [root],
    })
    expect(() => nested.resolve('library/x.txt', 'write')).toThrow(/only be read/)
    expect(() => nested.resolve('plugins/x.mjs', 'write')).toThrow(/is protected/)
    expect(nested.resolve('plugins/x.mjs', 'read')).toBe(join(base, 'plugins/x.mjs'))
    for (const access of ['read', 'write'] as const)
      expect(() => nested.resolve('ws/x.txt', access)).toThrow(/belongs to tool-hub/)
    expect(nested.resolve('ws/a/x.txt', 'write')).toBe(join(root, 'a/x.txt'))
    nested.close()
  })

  it('are gone after close', async () => {
    guard.close()
    await expect(read('a/b/c.txt')).rejects.toThrow(code('SANDBOX_UNAVAILABLE'))
    expect(() => guard.resolve('a', 'read')).toThrow(code('SANDBOX_UNAVAILABLE'))
  })
})
