import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith, jailSpec } from '../../../../test/support/jail-spec.ts'
import { buildJail } from './build-jail.ts'
import type { Jail } from './jail.ts'
import { runInJail } from './run-in-jail.ts'
import { swappedMount } from './swapped-mount.ts'

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

async function protectedJail() {
  const workspace = await folderWith({ '.git/config': '', 'a b/.vscode/x': '' })
  const protect = [join(workspace, '.git/config'), join(workspace, 'a b/.vscode')]
  return { workspace, jail: buildJail(jailSpec(workspace, { protect })) }
}

async function mountsIn(jail: Jail): Promise<string> {
  return (await runInJail(jail, ['/bin/cat', '/proc/self/mountinfo'])).stdout
}
