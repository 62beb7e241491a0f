import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, rename, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { workspace } from '../../../../../test/support/made-sandboxes.ts'
import { folderWith, sandboxSpec } from '../../../../../test/support/sandbox-spec.ts'
import { buildSandbox } from '../isolation/build-sandbox.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import { runInSandbox } from '../probe/probe-sandbox.ts'
import { detachedMounts, fingerprint, swappedMount, watchCovers } from './mount-checks.ts'

it('finds nothing in a sandbox that is as it should be', async () => {
  const { sandbox } = await protectedJail()
  expect(sandbox.swappable).toHaveLength(4)
  expect(swappedMount(sandbox, await mountsIn(sandbox))).toBeUndefined()
})

it('finds the mount that shows something from outside', async () => {
  const { sandbox, workspace } = await protectedJail()
  const outside = await folderWith({ id_rsa: 'secret' })
  const path = join(workspace, 'a b/.vscode')
  // What a command gains that swaps the folder for a link while bubblewrap looks.
  const args = sandbox.args.with(sandbox.args.indexOf(path), outside)
  expect(swappedMount(sandbox, await mountsIn({ ...sandbox, args }))).toBe(path)
})

it('takes a disk of its own, mounted in the workspace, for what it is', () => {
  const sandbox = { swappable: ['/w/disk'] } as unknown as SandboxLaunch
  const lines = [
    '1 0 8:1 /home/w /w rw - ext4 x rw',
    '2 1 8:2 / /w/disk rw - ext4 y rw',
    '3 1 8:2 / /w/disk ro - ext4 y rw',
  ]
  expect(swappedMount(sandbox, lines.join('\n'))).toBeUndefined()
  expect(swappedMount(sandbox, lines.toSpliced(1, 1).join('\n'))).toBe('/w/disk')
  expect(swappedMount(sandbox, lines[0]!)).toBe('/w/disk')
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
  return { workspace, sandbox: buildSandbox(sandboxSpec(workspace, { protect })) }
}

async function mountsIn(sandbox: SandboxLaunch): Promise<string> {
  return (await runInSandbox(sandbox, ['/bin/cat', '/proc/self/mountinfo'])).stdout
}

const LATER = { timeout: 100_000, interval: 5 }
let folder: string
let file: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'cover-watch-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  file = join(folder, '.env')
  writeFileSync(file, 'first')
})

const mounted = (...paths: readonly string[]) => paths.map((path) => `1 0 8:1 / ${path} rw - ext4 x rw`).join('\n')

/** Watches paths of a sandbox that has these mounts now. */
function watching(closed: readonly string[]) {
  const onUncovered = vi.fn()
  const mounts = vi.fn(() => mounted(...closed))
  const end = watchCovers({ closed, mounts, onUncovered })
  onTestFinished(end)
  return { onUncovered, mounts, end }
}

it('immediately finds a file that has replaced a covered one, and reports it once', async () => {
  const { onUncovered, mounts } = watching([file])
  mounts.mockReturnValue(mounted('/elsewhere'))
  writeFileSync(join(folder, 'draft'), 'second')
  renameSync(join(folder, 'draft'), file)
  await vi.waitFor(() => expect(onUncovered).toHaveBeenCalledWith(file), LATER)
  writeFileSync(file, 'third')
  expect(onUncovered).toHaveBeenCalledTimes(1)
})

it('finds what comes later to where nothing is any more, also in the place of a folder', async () => {
  const hooks = join(folder, 'hooks')
  mkdirSync(hooks)
  const { onUncovered, mounts } = watching([file, hooks])
  mounts.mockReturnValue(mounted(file))
  rmSync(hooks, { recursive: true })
  const looks = mounts.mock.calls.length
  await vi.waitFor(() => expect(mounts.mock.calls.length).toBeGreaterThan(looks + 1), LATER)
  expect(onUncovered).not.toHaveBeenCalled()
  mkdirSync(hooks)
  await vi.waitFor(() => expect(onUncovered).toHaveBeenCalledWith(hooks), LATER)
})

it('looks without being told, too, and lets a file be changed in its place', async () => {
  const { onUncovered, mounts } = watching([file])
  writeFileSync(file, 'changed')
  const looks = mounts.mock.calls.length
  await vi.waitFor(() => expect(mounts.mock.calls.length).toBeGreaterThan(looks + 2), LATER)
  expect(onUncovered).not.toHaveBeenCalled()
  mounts.mockReturnValue('')
  await vi.waitFor(() => expect(onUncovered).toHaveBeenCalledWith(file), LATER)
})

it('ends with the sandbox, and when told to', async () => {
  const { onUncovered, mounts } = watching([file])
  mounts.mockImplementation(() => {
    throw new Error('no such process')
  })
  await vi.waitFor(() => expect(mounts).toHaveBeenCalled(), LATER)
  const other = watching([file])
  other.end()
  const looks = [mounts, other.mounts].map((each) => each.mock.calls.length)
  writeFileSync(join(folder, 'draft'), 'second')
  renameSync(join(folder, 'draft'), file)
  const third = watching([file])
  await vi.waitFor(() => expect(third.mounts).toHaveBeenCalled(), LATER)
  expect([mounts, other.mounts].map((each) => each.mock.calls.length)).toEqual(looks)
  expect(onUncovered).not.toHaveBeenCalled()
})

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
