import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../../../test/support/sandbox-spec.ts'
import { canEnter, NOBODY_USER, sandboxUser } from './sandbox.ts'

describe.runIf(process.geteuid?.() === 0)('the user of a sandbox, where the hub is root', () => {
  it('is the owner of the first writable root', async () => {
    const [mine, other] = [await folderWith(), await folderWith()]
    await chown(other, 1000, 0)
    expect(
      sandboxUser({
        roots: [
          { path: mine, mode: 'read' },
          { path: other, mode: 'write' },
        ],
      }),
    ).toEqual({ uid: 1000, gid: 1000, isOther: true })
    expect(
      sandboxUser({
        roots: [
          { path: mine, mode: 'write' },
          { path: other, mode: 'write' },
        ],
      }),
    ).toMatchObject({ uid: 0, isOther: false })
  })

  it('is root where the owner cannot get to the folder', async () => {
    const above = await folderWith()
    const path = join(above, 'in')
    await mkdir(path)
    await chown(path, 1000, 1000)
    await chmod(above, 0o700)
    expect(sandboxUser({ roots: [{ path, mode: 'write' }] })).toMatchObject({ uid: 0, isOther: false })
  })
})

describe.runIf(process.geteuid?.() === 0)('whether a user gets into a folder', () => {
  it.each([
    ['others may', 0o711, { uid: 2000, gid: 2000 }, true],
    ['others may not', 0o710, { uid: 2000, gid: 2000 }, false],
    ['its group may', 0o710, { uid: 2000, gid: 1000 }, true],
    ['its group may not, though others may', 0o701, { uid: 2000, gid: 1000 }, false],
    ['its owner may open it in any case', 0o600, { uid: 1000, gid: 2000 }, true],
  ])('%s', async (_, mode, user, expected) => {
    const folder = await folderWith()
    await chown(folder, 1000, 1000)
    await chmod(folder, mode)
    expect(canEnter(folder, user)).toBe(expected)
    await mkdir(join(folder, 'in'))
    expect(canEnter(join(folder, 'in'), user)).toBe(expected)
  })

  it('is false if it does not exist, or is a file', async () => {
    const folder = await folderWith({ file: '' })
    expect(canEnter(join(folder, 'none'), NOBODY_USER)).toBe(false)
    expect(canEnter(join(folder, 'file'), NOBODY_USER)).toBe(false)
    expect(canEnter('/', NOBODY_USER)).toBe(true)
  })

  it('keeps the group of the owner, unless it is the group of root', async () => {
    const path = await folderWith()
    await chown(path, 1000, 1001)
    expect(sandboxUser({ roots: [{ path, mode: 'write' }] })).toEqual({ uid: 1000, gid: 1001, isOther: true })
    expect(sandboxUser({ roots: [{ path, mode: 'read' }] })).toEqual({ uid: 1000, gid: 1001, isOther: true })
    expect(sandboxUser({ roots: [] })).toEqual({ uid: 0, gid: process.getegid!(), isOther: false })
    expect(sandboxUser({ roots: [{ path: join(path, 'none'), mode: 'write' }] })).toMatchObject({ isOther: false })
  })
})

it('knows nobody by the number that every Linux has', () => {
  expect(NOBODY_USER).toEqual({ uid: 65_534, gid: 65_534 })
})
