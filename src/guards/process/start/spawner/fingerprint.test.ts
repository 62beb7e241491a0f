import { mkdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { workspace } from '../../../../../test/support/made-jails.ts'
import { fingerprint } from './fingerprint.ts'

it('is another one when a folder among the arguments is another, or gone', async () => {
  const folder = await workspace()
  const path = join(folder, 'a')
  await mkdir(path)
  const words = ['--bind', path, path, '--size', '7']
  const before = fingerprint(words)
  expect(before).toMatch(/^\d+:\d+,\d+:\d+$/)
  expect(fingerprint(words)).toBe(before)
  await rename(path, join(folder, 'b'))
  expect(fingerprint(words)).toBe('-,-')
  await mkdir(path)
  expect(fingerprint(words)).not.toBe(before)
  await rename(path, join(folder, 'c'))
  await rename(join(folder, 'b'), path)
  expect(fingerprint(words)).toBe(before)
})

it.each(['usr', 'etc', 'proc', 'dev', 'sys', 'bin', 'sbin', 'lib', 'lib64', 'run'])(
  'does not look at /%s, where no workspace is',
  (name) => {
    expect(fingerprint([`/${name}`, `/${name}/no/such`])).toBe('')
    expect(fingerprint([`/${name}x/no`])).toBe('-')
    expect(fingerprint([`/no/${name}/x`])).toBe('-')
  },
)

it('equals nothing else where it cannot look', async () => {
  const loop = join(await workspace(), 'loop')
  await symlink(loop, loop)
  expect(fingerprint([loop])).toMatch(/^unknown \d+$/)
  expect(fingerprint([loop])).not.toBe(fingerprint([loop]))
})
