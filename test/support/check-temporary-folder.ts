import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, expect, vi } from 'vitest'
import { removeTemporaryFolders } from './temporary-folder.ts'

/** What is killed by a test may still be ending, on a busy machine for long. */
const LIMIT_MS = 120_000

const folder = workerFolder()
const before = new Set(readdirSync(folder))

// Registered first, so it runs last: whatever the file has made is gone by now.
afterAll(async () => {
  removeTemporaryFolders()
  const left = () => readdirSync(folder).filter((name) => !before.has(name))
  // A browser that was closed while it started leaves an empty folder of this name; that is not ours to prevent.
  const ours = () => left().filter((name) => !name.startsWith('.org.chromium.Chromium.'))
  try {
    await vi.waitFor(() => expect(ours(), 'left in the temporary folder').toEqual([]), { timeout: LIMIT_MS })
  } finally {
    for (const name of left()) rmSync(join(folder, name), { recursive: true, force: true })
  }
}, 2 * LIMIT_MS)

/** Workers share nothing, so that what is left has one file that left it. */
function workerFolder(): string {
  const name = String(process.pid)
  if (basename(tmpdir()) === name) return tmpdir()
  const made = join(tmpdir(), name)
  mkdirSync(made)
  chmodSync(made, 0o1777)
  process.env.TMPDIR = made
  endInOrder()
  return made
}

/** A worker is ended by a signal, at which Node does not emit `exit`: what is removed then would stay. */
function endInOrder(): void {
  process.once('SIGTERM', () => {
    process.emit('exit', 0)
    process.kill(process.pid, 'SIGKILL')
  })
}
