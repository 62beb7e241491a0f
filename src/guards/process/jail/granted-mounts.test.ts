import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith, jailSpec } from '../../../../test/support/jail-spec.ts'
import { grantedMounts } from './granted-mounts.ts'
import type { JailSpec } from './jail.ts'

const owner = { uid: 0, gid: 0, isOther: false }

describe('what a jail lets in', () => {
  it('is outermost first, and the folders above what is protected are held in place', async () => {
    const { steps } = await granted({ 'a/.git/config': '', 'a/.env': '', b: '' }, (folder) => ({
      protect: [join(folder, 'a/.git/config')],
      hide: [join(folder, 'a/.env'), join(folder, 'b')],
    }))
    expect(steps).toEqual(['write .', 'write a', 'hideFile b', 'hideFile a/.env', 'write a/.git', 'read a/.git/config'])
  })

  it('holds the folders above what is hidden in place, as the next jail looks for it by its name', async () => {
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

async function granted(
  files: Record<string, string | null>,
  parts: (folder: string) => Partial<JailSpec> | Promise<Partial<JailSpec>>,
) {
  const folder = await folderWith(files)
  const grants = grantedMounts(jailSpec(folder, await parts(folder)), owner)
  const name = (path: string) => (path === folder ? '.' : path.slice(folder.length + 1))
  const own = grants.mounts.filter((mount) => mount.to.startsWith(folder))
  return {
    steps: own.map((mount) => `${mount.kind} ${name(mount.to)}`),
    leftOut: grants.leftOut.map(({ path, why }) => `${name(path)} ${why}`),
  }
}
