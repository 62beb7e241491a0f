import { execFileSync } from 'node:child_process'
import { closeSync, constants } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { assertOurFolder, distrust, openOurs, openRegular, readRegular, readWithoutWaiting } from './trusted-files.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-owned-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const at = (name: string) => join(folder, name)
const us = process.geteuid?.() ?? 0

describe('what can be trusted', () => {
  it('belongs to this user or root, and nobody else may write to it', () => {
    expect(distrust({ uid: us, gid: 7, mode: 0o100755 })).toBeUndefined()
    expect(distrust({ uid: 0, gid: 0, mode: 0o40755 })).toBeUndefined()
    expect(distrust({ uid: 98_765, gid: us, mode: 0o100600 })).toEqual({
      why: `belongs to user 98765, not to you (user ${us}) or root`,
      command: `chown ${us}`,
    })
    for (const mode of [0o100666, 0o100602, 0o41777, 0o100620])
      expect(distrust({ uid: us, gid: 7, mode })).toMatchObject({ command: 'chmod go-w' })
    expect(distrust({ uid: 0, gid: 0, mode: 0o100664 })).toBeDefined()
  })

  it("may be writable by the user's own group", () => {
    expect(distrust({ uid: 1000, gid: 1000, mode: 0o100664 }, 1000)).toBeUndefined()
    expect(distrust({ uid: 1000, gid: 1000, mode: 0o100666 }, 1000)).toBeDefined()
    expect(distrust({ uid: 1000, gid: 100, mode: 0o100664 }, 1000)).toBeDefined()
  })
})

describe('a file that is opened', () => {
  it('is a regular one, reached by no link; a pipe is not waited for', async () => {
    await writeFile(at('file'), 'text', { mode: 0o600 })
    await symlink(at('file'), at('link'))
    await mkdir(at('folder'))
    execFileSync('mkfifo', [at('pipe')])
    closeSync(openOurs(at('file'), constants.O_RDONLY))
    expect(await readRegular(at('file'), 3)).toBe('tex')
    for (const [name, why] of [
      ['link', 'is a symbolic link'],
      ['pipe', 'is not a regular file'],
      ['folder', 'is not a regular file'],
    ] as const) {
      expect(() => openOurs(at(name), constants.O_RDONLY)).toThrow(`${at(name)} ${why}`)
      await expect(openRegular(at(name))).rejects.toThrow()
    }
    expect(() => openOurs(at('none'), constants.O_RDONLY)).toThrow('ENOENT')
  })

  it('is ours alone', async () => {
    await writeFile(at('file'), '')
    await chmod(at('file'), 0o606)
    expect(() => openOurs(at('file'), constants.O_RDONLY, { name: 'the file' })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'the file can be written by other users (mode 606).',
        fix: { hint: expect.stringContaining('chmod go-w the file') },
        details: { path: at('file') },
      }),
    )
  })
})

describe('a file where commands may write', () => {
  it('is read without waiting, up to a size; pipes, links, folders and what is missing are not', async () => {
    execFileSync('mkfifo', [at('pipe')])
    await writeFile(at('file'), 'text')
    await symlink(at('file'), at('link'))
    expect(readWithoutWaiting(at('file'), 4)?.toString()).toBe('text')
    expect(readWithoutWaiting(at('file'), 3)).toBeUndefined()
    for (const name of ['pipe', 'link', '.', 'missing', 'file/x'])
      expect(readWithoutWaiting(at(name), 10)).toBeUndefined()
  })
})

describe('a folder', () => {
  it('is a real one and ours alone', async () => {
    await mkdir(at('real'))
    await symlink(at('real'), at('link'))
    assertOurFolder(at('real'))
    expect(() => assertOurFolder(at('link'))).toThrow('not a folder, but a link')
    await chmod(at('real'), 0o777)
    expect(() => assertOurFolder(at('real'))).toThrow('can be written by other users (mode 777)')
  })

  it.skipIf(us !== 0)('does not belong to another user', async () => {
    await chown(folder, 12_345, 12_345)
    expect(() => assertOurFolder(folder)).toThrow('belongs to user 12345')
  })
})
