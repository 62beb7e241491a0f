import { expect, it } from 'vitest'
import { memoryMounts, systemMounts } from './mounts.ts'

const MIB = 1024 ** 2

it.each([
  ['a quarter of the memory', 256 * MIB, 64 * MIB, 64 * MIB],
  ['whole bytes', 400 * MIB + 3, 100 * MIB, 64 * MIB],
  ['512 MiB at most', 2048 * MIB + 4, 512 * MIB, 64 * MIB],
  ['1 MiB at least', 2 * MIB, MIB, MIB],
  ['less to share where there is less', 128 * MIB, 32 * MIB, 32 * MIB],
])('gives a command memory to write in: %s', (_, memoryBytes, bytes, shared) => {
  expect(memoryMounts(memoryBytes)).toEqual([
    { kind: 'memory', to: '/tmp', bytes, mode: '1777' },
    { kind: 'memory', to: '/run', bytes, mode: '0755' },
    { kind: 'memory', to: '/dev/shm', bytes: shared, mode: '1777' },
  ])
})

it.runIf(process.platform === 'linux')('shows /usr and an /etc of its own, and nothing writable', () => {
  const mounts = systemMounts({ uid: 1234, gid: 1234, isOther: false })
  expect(mounts[0]).toEqual({ kind: 'read', from: '/usr', to: '/usr' })
  const etc = mounts.find((mount) => mount.to === '/etc')
  expect(etc).toMatchObject({ kind: 'read', from: expect.stringMatching(/\/etc\.1234\.1234$/) })
  expect(mounts.filter(({ kind }) => kind === 'write' || kind === 'memory')).toEqual([])
  expect(mounts.map(({ to }) => to)).toEqual(expect.arrayContaining(['/bin', '/sbin', '/lib']))
})
