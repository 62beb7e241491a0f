import { closeSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { FilesCall } from './files-call.ts'
import { createFilesGuard } from './files-guard.ts'
import { createFilesRoot } from './files-root.ts'
import { openRoots } from './roots.ts'
import { isSameList, namesAt, openFolder, readLink, statAt } from './walk.ts'

const base = temporaryFolder('files-filesRoot')
for (const name of ['ws', 'web', 'ws/records/run', 'ws/d']) mkdirSync(join(base, name), { recursive: true })
writeFileSync(join(base, 'ws/f'), 'text')
symlinkSync('d', join(base, 'ws/l'))
const roots = openRoots([
  { path: join(base, 'ws'), mode: 'write' },
  { path: join(base, 'web'), mode: 'read', untrusted: true },
])
afterAll(() => roots.close())

const never = new AbortController().signal
const rights: FilesCall = { signal: () => never, canRead: true, canWrite: true, canOverwrite: true }
const filesRoot = createFilesRoot(roots, 100, [join(base, 'ws/plugins')], [join(base, 'ws/records')], 50)

describe('the filesRoot', () => {
  it('knows how much may be read', () => {
    expect([filesRoot.maxReadBytes, filesRoot.usualReadBytes]).toEqual([100, 50])
    expect(createFilesRoot(roots, 100, []).usualReadBytes).toBe(100)
  })

  it.each<[string, 'read' | 'write', string | undefined]>([
    ['a', 'read', undefined],
    ['a', 'write', undefined],
    ['.env', 'read', 'looks like a secret'],
    ['.bashrc', 'write', 'is run or trusted by other programs'],
    ['.bashrc', 'read', undefined],
    ['plugins', 'write', 'is protected: it decides what tools may do'],
    ['plugins/a', 'write', 'is protected: it decides what tools may do'],
    ['plugins/a', 'read', undefined],
    ['plugins2', 'write', undefined],
    ['records/a', 'read', 'belongs to tool-hub'],
    ['records/a', 'write', 'belongs to tool-hub'],
    ['web/a', 'write', 'is below a root that may only be read'],
    ['web/a', 'read', undefined],
  ])('admits %s to %s, or says why not', (path, access, reason) => {
    const target = roots.locate(path.startsWith('web/') ? join(base, path) : path)
    const admit = () => filesRoot.admit(target, access)
    if (reason === undefined) expect(admit).not.toThrow()
    else
      expect(admit).toThrow(
        expect.objectContaining({ code: 'PATH_DENIED', message: `${JSON.stringify(target.path)} ${reason}.` }),
      )
  })

  it('leaves a root inside of a hidden folder open', () => {
    const inner = openRoots([{ path: join(base, 'ws/records/run'), mode: 'write' }])
    const open = createFilesRoot(inner, 1, [join(base, 'ws/records')], [join(base, 'ws/records')])
    expect(() => open.admit(inner.locate('a'), 'write')).not.toThrow()
    inner.close()
  })

  it('asks policy about each use by its name, after what is closed by default', () => {
    const asked: string[] = []
    const call = { ...rights, permits: (path: string, use: string) => asked.push(`${use} ${path}`) }
    for (const use of ['read', 'write', 'overwrite'] as const) filesRoot.pass(roots.locate('a'), use, call)
    for (const use of ['write', 'overwrite'] as const)
      expect(() => filesRoot.pass(roots.locate('.bashrc'), use, call)).toThrow('is run or trusted')
    expect(asked).toEqual(['read', 'write', 'overwrite'].map((use) => `${use} ${join(base, 'ws/a')}`))
  })

  it('tells when something from outside is read: below such a root, or known by its path', () => {
    const told = (path: string, use: 'read' | 'write', isUntrusted?: (path: string) => boolean) => {
      let count = 0
      filesRoot.pass(roots.locate(path), use, { ...rights, isUntrusted, onUntrusted: () => (count += 1) })
      return count
    }
    expect(told('a', 'read')).toBe(0)
    expect(told(join(base, 'web/a'), 'read')).toBe(1)
    expect(told('a', 'read', (path) => path === join(base, 'ws/a'))).toBe(1)
    expect(told('a', 'read', () => false)).toBe(0)
    expect(told('a', 'write', () => true)).toBe(0)
  })

  it('runs nothing for a call that was stopped, and asks for the signal only if it has to', async () => {
    const stopped = { ...rights, signal: () => AbortSignal.abort() }
    const work = async () => 'done'
    await expect(filesRoot.use('a', stopped, work)).rejects.toMatchObject({ code: 'ABORTED' })
    await expect(filesRoot.use('a', { ...stopped, isStopped: () => true }, work)).rejects.toMatchObject({
      code: 'ABORTED',
    })
    expect(await filesRoot.use('a', { ...stopped, isStopped: () => false }, work)).toBe('done')
    const fail = () => Promise.reject(new Error('because it was stopped'))
    await expect(filesRoot.use('a', { ...stopped, isStopped: () => false }, fail)).rejects.toMatchObject({
      code: 'ABORTED',
    })
  })

  it('gives errors that the caller understands', async () => {
    const use = (error: unknown) => filesRoot.use('./x', rights, () => Promise.reject(error))
    const missing = Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'open' })
    await expect(use(missing)).rejects.toMatchObject({ message: `"./x" does not exist in ${join(base, 'ws')}.` })
    const named = new ToolError('CONFLICT', `"${join(base, 'ws/x')}" changed.`)
    await expect(use(named)).rejects.toMatchObject({ message: '"./x" changed.' })
    const defect = new Error('defect')
    await expect(use(defect)).rejects.toBe(defect)
  })

  it('does not take a path for a message', async () => {
    const path = 'f does not exist./x'
    writeFileSync(join(base, 'ws/f does not exist.'), '')
    const guard = createFilesGuard({ roots: [{ path: join(base, 'ws'), mode: 'read' }], maxReadBytes: 9 })
    await expect(guard.handle(rights).readText!(path)).rejects.toMatchObject({
      message: `${JSON.stringify(path)} does not exist: a part of it is a file, not a folder.`,
    })
    guard.close()
  })
})

describe('a name below an open folder', () => {
  const { root } = roots.locate('.')

  it('is opened as a folder, or is a link, or nothing', () => {
    closeSync(openFolder(root.descriptor, 'd') as number)
    expect(openFolder(root.descriptor, 'l')).toEqual({ link: 'd' })
    expect(openFolder(root.descriptor, 'none')).toBeUndefined()
    expect(() => openFolder(root.descriptor, 'f')).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
  })

  it('is looked at without following a link', () => {
    expect(statAt(root.descriptor, 'l')?.isSymbolicLink()).toBe(true)
    expect(statAt(root.descriptor, 'none')).toBeUndefined()
    expect(readLink(root.descriptor, 'l')).toEqual({ link: 'd' })
    expect(readLink(root.descriptor, 'f')).toBeUndefined()
    expect(() => readLink(root.descriptor, 'none')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
    expect(namesAt(root.descriptor).filter((name) => name.length === 1)).toEqual(['d', 'f', 'l'])
  })

  it.each([
    [['a', 'b'], ['a', 'b'], true],
    [['a'], ['b'], false],
    [['a', 'b'], ['a'], false],
    [['a', 'b'], ['a/b'], false],
    [[], [], true],
  ])('%j and %j are the same list: %j', (one, other, expected) => {
    expect(isSameList(one, other)).toBe(expected)
  })
})
