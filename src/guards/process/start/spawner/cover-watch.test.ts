import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { watchCovers } from './cover-watch.ts'

const LATER = { timeout: 60_000, interval: 5 }
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

it('finds at once what has taken the place of a file that was covered, and says so once', async () => {
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
