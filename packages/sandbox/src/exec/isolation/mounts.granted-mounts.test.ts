import { chmod, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith, sandboxSpec } from '../../../../../test/support/sandbox-spec.ts'
import { grantedMounts } from './mounts.ts'
import type { SandboxSpec } from './sandbox.ts'

const owner = { uid: 0, gid: 0, isOther: false }

describe('what a sandbox grants', () => {
  it('is outermost first, and the folders above what is protected are held in place', async () => {
    const { steps } = await granted({ 'a/.git/config': '', 'a/.env': '', b: '' }, (folder) => ({
      protect: [join(folder, 'a/.git/config')],
      hide: [join(folder, 'a/.env'), join(folder, 'b')],
    }))
    expect(steps).toEqual(['write .', 'write a', 'hideFile b', 'hideFile a/.env', 'write a/.git', 'read a/.git/config'])
  })

  it('holds the folders above what is hidden in place, as the next sandbox looks for it by its name', async () => {
    const { steps } = await granted({ 'a/b/.env': '', 'a/c': '' }, (folder) => ({ hide: [join(folder, 'a/b/.env')] }))
    expect(steps).toEqual(['write .', 'write a', 'write a/b', 'hideFile a/b/.env'])
  })

  it('takes the stricter word about a path, and the deepest about what is below', async () => {
    const { steps } = await granted({ 'vendor/own/x': '', 'vendor/y': '' }, (folder) => ({
      readable: [join(folder, 'vendor')],
      writable: [join(folder, 'vendor/own')],
      protect: [join(folder, 'vendor/y'), join(folder, 'vendor/own')],
    }))
    expect(steps).toEqual(['write .', 'read vendor'])
  })

  it('leaves out links, since what they lead to was never meant', async () => {
    const { steps, leftOut } = await granted({ real: null }, async (folder) => {
      await symlink('/etc', join(folder, '.vscode'))
      await symlink(join(folder, 'real'), join(folder, 'way'))
      return {
        protect: ['.vscode', 'way/x', 'none'].map((name) => join(folder, name)),
        hide: [join(folder, '.vscode')],
      }
    })
    expect(steps).toEqual(['write .'])
    expect(leftOut).toEqual(['.vscode is a link', 'none does not exist', 'way/x does not exist'])
  })

  it('holds a missing folder of hooks shut, in a repository only', async () => {
    const { steps } = await granted({ '.git/HEAD': '', other: null }, (folder) => ({
      protect: [join(folder, '.git/hooks'), join(folder, 'other/hooks')],
    }))
    expect(steps).toEqual(['write .', 'write .git', 'hideFolder .git/hooks'])
  })
})

describe('what cannot be granted', () => {
  it.each([
    '/',
    '/usr',
    '/bin',
    '/sbin',
    '/lib',
    '/lib64',
    '/etc',
    '/run',
    '/dev',
    '/proc',
    '/sys',
    '/sys/x',
    '/dev/shm',
  ])('is %s', (path) => {
    for (const parts of [{ readable: [path] }, { writable: [path] }, { roots: [{ path, mode: 'read' as const }] }]) {
      expect(() => grantedMounts(sandboxSpec('/w', parts), owner)).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: `${path} is part of the system and cannot be granted to a sandbox as a whole.`,
          fix: expect.objectContaining({
            hint: 'Name a folder below it in sandbox.roots, sandbox.commands.readable or sandbox.commands.writable.',
          }),
        }),
      )
    }
  })

  it('is not a folder that has such a name elsewhere', async () => {
    const { steps } = await granted({ 'proc/x': '', dev: null }, (folder) => ({
      readable: [join(folder, 'proc/x'), join(folder, 'dev')],
    }))
    expect(steps).toEqual(['write .', 'read dev', 'write proc', 'read proc/x'])
  })
})

describe('the mounts of a sandbox', () => {
  it('say which of them a command could swap, and which close something', async () => {
    const folder = await folderWith({ 'a/secret': '', 'a/config': '', b: null })
    const path = (name: string) => join(folder, name)
    const parts = { protect: [path('a/config')], hide: [path('a/secret'), path('b'), '/elsewhere'] }
    const { inside, closed, leftOut } = grantedMounts(sandboxSpec(folder, parts), owner)
    expect([...inside].map((mount) => mount.to)).toEqual(['b', 'a', 'a/config', 'a/secret'].map(path))
    expect(closed).toEqual(['b', 'a/config', 'a/secret'].map(path))
    expect(leftOut).toEqual([])
  })

  it('protect nothing in what is hidden, and hide in what is read-only', async () => {
    const { steps } = await granted({ 'a/b': '', 'r/s': '', 'r/t': '' }, (folder) => ({
      readable: [join(folder, 'r')],
      protect: [join(folder, 'a/b'), join(folder, 'r/t')],
      hide: [join(folder, 'a'), join(folder, 'r/s')],
    }))
    expect(steps).toEqual(['write .', 'hideFolder a', 'read r', 'hideFile r/s'])
  })

  it('leave out what another user cannot get to', async () => {
    const folder = await folderWith({ 'shut/x': '', open: '' })
    await chmod(join(folder, 'shut'), 0o700)
    const spec = sandboxSpec(folder, { readable: [join(folder, 'shut/x'), join(folder, 'open')] })
    const { leftOut } = grantedMounts(spec, { uid: 4321, gid: 4321, isOther: true })
    expect(leftOut).toEqual([{ path: join(folder, 'shut/x'), why: 'is out of reach for user 4321' }])
  })

  it('leave out what is behind a link, but hide it', async () => {
    const { leftOut, steps } = await granted({ 'real/x': '', 'real/y': '' }, async (folder) => {
      await symlink('real', join(folder, 'way'))
      return { protect: [join(folder, 'way/x')], hide: [join(folder, 'way/y')] }
    })
    expect(leftOut).toEqual(['way/x leads through a link'])
    expect(steps).toEqual(['write .', 'write way', 'hideFile way/y'])
  })

  it('shut missing hooks only where they are protected, in a folder named .git', async () => {
    const { steps, leftOut } = await granted({ '.git/HEAD': '', 'x/.git': '' }, (folder) => ({
      protect: [join(folder, '.git/hook'), join(folder, 'x/.git/hooks')],
      hide: [join(folder, '.git/hooks')],
    }))
    expect(steps).toEqual(['write .'])
    expect(leftOut).toEqual(['.git/hook does not exist', '.git/hooks does not exist', 'x/.git/hooks does not exist'])
  })
})

async function granted(
  files: Record<string, string | null>,
  parts: (folder: string) => Partial<SandboxSpec> | Promise<Partial<SandboxSpec>>,
) {
  const folder = await folderWith(files)
  const grants = grantedMounts(sandboxSpec(folder, await parts(folder)), owner)
  const name = (path: string) => (path === folder ? '.' : path.slice(folder.length + 1))
  const own = grants.mounts.filter((mount) => mount.to.startsWith(folder))
  return {
    steps: own.map((mount) => `${mount.kind} ${name(mount.to)}`),
    leftOut: grants.leftOut.map(({ path, why }) => `${name(path)} ${why}`),
  }
}
