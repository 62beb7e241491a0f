import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '@tool-hub/library/stores'
import { expect, it, vi } from 'vitest'
import { startPostgres } from '../../../../test/support/postgres.ts'

it.skipIf(process.getuid?.() !== 0)(
  'a check is refused while the disk of PostgreSQL is full, and accepted as soon as there is room again',
  async () => {
    const disk = mkdtempSync(join(tmpdir(), 'tool-hub-pg-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=755', 'tmpfs', disk])
    vi.stubEnv('TMPDIR', disk)
    chmodSync(disk, 0o777)
    const server = await startPostgres()
    vi.unstubAllEnvs()
    const store = openPostgresStore(server.url)
    const ballast = join(disk, 'ballast')
    try {
      // Its pages then have room, so that small rows still fit in.
      for (let check = 0; check < 3; check++) await store.check()
      fill(ballast)
      await expect(store.check()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
      rmSync(ballast)
      await store.check()
    } finally {
      rmSync(ballast, { force: true })
      await store.close()
      await server.close()
      execFileSync('umount', ['--lazy', disk])
      rmSync(disk, { recursive: true, force: true })
    }
  },
  120_000,
)

/** Takes all the room there is, to the last byte. */
function fill(file: string): void {
  for (let size = 1 << 24; size >= 1; size >>= 1) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' })
    } catch {
      // Less may fit in.
    }
  }
}
