import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../../test/support/jail-spec.ts'
import { jailOwner } from './jail-owner.ts'

describe.runIf(process.geteuid?.() === 0)('the user of a jail, where the hub is root', () => {
  it('is the owner of the first writable root', async () => {
    const [mine, other] = [await folderWith(), await folderWith()]
    await chown(other, 1000, 0)
    expect(
      jailOwner({
        roots: [
          { path: mine, mode: 'read' },
          { path: other, mode: 'write' },
        ],
      }),
    ).toEqual({ uid: 1000, gid: 1000, isOther: true })
    expect(
      jailOwner({
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
    expect(jailOwner({ roots: [{ path, mode: 'write' }] })).toMatchObject({ uid: 0, isOther: false })
  })
})
