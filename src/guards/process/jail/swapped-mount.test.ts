import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith, jailSpec } from '../../../../test/support/jail-spec.ts'
import { buildJail } from './build-jail.ts'
import type { Jail } from './jail.ts'
import { runInJail } from './run-in-jail.ts'
import { detachedMounts, swappedMount } from './swapped-mount.ts'

it('finds nothing in a jail that is as it should be', async () => {
  const { jail } = await protectedJail()
  expect(jail.swappable).toHaveLength(4)
  expect(swappedMount(jail, await mountsIn(jail))).toBeUndefined()
})

it('finds the mount that shows something from outside', async () => {
  const { jail, workspace } = await protectedJail()
  const outside = await folderWith({ id_rsa: 'secret' })
  const path = join(workspace, 'a b/.vscode')
  // What a command gains that swaps the folder for a link while bubblewrap looks.
  const args = jail.args.with(jail.args.indexOf(path), outside)
  expect(swappedMount(jail, await mountsIn({ ...jail, args }))).toBe(path)
})

it('takes a disk of its own, mounted in the workspace, for what it is', () => {
  const jail = { swappable: ['/w/disk'] } as unknown as Jail
  const lines = [
    '1 0 8:1 /home/w /w rw - ext4 x rw',
    '2 1 8:2 / /w/disk rw - ext4 y rw',
    '3 1 8:2 / /w/disk ro - ext4 y rw',
  ]
  expect(swappedMount(jail, lines.join('\n'))).toBeUndefined()
  expect(swappedMount(jail, lines.toSpliced(1, 1).join('\n'))).toBe('/w/disk')
  expect(swappedMount(jail, lines[0]!)).toBe('/w/disk')
})

it.each([
  ['a mount of the folder around it', ['1 0 8:1 /home/w /w rw', '2 1 8:1 /home/w/a /w/a ro'], undefined],
  ['another folder of the same disk', ['1 0 8:1 /home/w /w rw', '2 1 8:1 /home/x /w/a ro'], '/w/a'],
  ['the same path of another disk', ['1 0 8:1 /home/w /w rw', '2 1 8:9 /home/w/a /w/a ro'], '/w/a'],
  ['a folder of a disk that is mounted whole', ['1 0 8:1 / /w rw', '2 1 8:1 /a /w/a ro'], undefined],
  ['no mount around it', ['2 1 8:1 /home/w/a /w/a ro'], '/w/a'],
  ['a mount around it at the top only', ['1 0 8:1 / / rw', '2 1 8:1 /w/a /w/a ro'], '/w/a'],
  [
    'the last of the mounts around it',
    ['1 0 8:1 /old /w rw', '1 0 8:1 /new /w rw', '2 1 8:1 /new/a /w/a ro'],
    undefined,
  ],
  ['lines that are no mounts', ['', 'x y', '1 0 8:1 /home/w /w rw', '2 1 8:1 /home/w/a /w/a ro', ''], undefined],
])('judges %s', (_, lines, expected) => {
  expect(swappedMount({ swappable: ['/w/a'] }, lines.join('\n'))).toBe(expected)
})

it('looks further up than the folder just above, and reads escaped names', () => {
  const lines = ['1 0 8:1 /home\\040w /w rw', '2 1 8:1 /home\\040w/b/c\\011d /w/b/c\\011d ro'].join('\n')
  expect(swappedMount({ swappable: ['/w/b/c\td'] }, lines)).toBeUndefined()
  expect(swappedMount({ swappable: ['/w/b/c'] }, lines)).toBe('/w/b/c')
  expect(swappedMount({}, lines)).toBeUndefined()
})

it('lists the closed paths on which nothing is mounted', () => {
  const lines = '1 0 8:1 / /w/a rw\n2 0 8:1 / /w/b\\040c rw'
  expect(detachedMounts(['/w/a', '/w/b c', '/w/b', '/w'], lines)).toEqual(['/w/b', '/w'])
})

async function protectedJail() {
  const workspace = await folderWith({ '.git/config': '', 'a b/.vscode/x': '' })
  const protect = [join(workspace, '.git/config'), join(workspace, 'a b/.vscode')]
  return { workspace, jail: buildJail(jailSpec(workspace, { protect })) }
}

async function mountsIn(jail: Jail): Promise<string> {
  return (await runInJail(jail, ['/bin/cat', '/proc/self/mountinfo'])).stdout
}
