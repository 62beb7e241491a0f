import { describe, expect, it, vi } from 'vitest'
import { holdingClock } from '../../../../test/support/holding-clock.ts'
import { folderWith } from '../../../../test/support/jail-spec.ts'
import { type DiskOveruse, type DiskState, DiskWatch } from './disk-watch.ts'
import { measureGrowth } from './measure-growth.ts'

const LATER = { timeout: 60_000 }
const DISK: DiskState = {
  ...{ device: 1, usedBytes: 0, freeBytes: 1_000, totalBytes: 1_000 },
  ...{ usedFiles: 0, freeFiles: 1_000, totalFiles: 1_000 },
}

/** A command that runs while a disk changes; why it was stopped. */
async function stoppedBy(
  before: Partial<DiskState>,
  after: Partial<DiskState>,
  limits = { diskBytes: 1e15, newFiles: 1e9 },
  folder = '/no/such',
) {
  const clock = holdingClock()
  let state: DiskState | undefined = { ...DISK, ...before }
  const watch = new DiskWatch([folder], limits, clock, async () => state)
  const stopped: DiskOveruse[] = []
  const leave = watch.watch({ pid: undefined, stop: (why) => stopped.push(why) }, await watch.before(), 0)
  state = { ...DISK, ...after }
  for (let look = 0; look < 4; look += 1) await clock.advance(250)
  expect(clock.holding).toBe(0)
  leave()
  await clock.advance(250)
  await clock.advance(250)
  expect(clock.waiting).toBe(0)
  return stopped
}

describe('the reserve of a disk', () => {
  it.each([
    ['a twentieth is left', { freeBytes: 50, usedBytes: 100 }, false],
    ['less than a twentieth is left', { freeBytes: 49, usedBytes: 100 }, true],
    ['little of it came meanwhile', { freeBytes: 49, usedBytes: 25 }, false],
    ['much of it came meanwhile', { freeBytes: 49, usedBytes: 26 }, true],
    ['a twentieth of the files is left', { freeFiles: 50, usedFiles: 100 }, false],
    ['less than a twentieth of the files is left', { freeFiles: 49, usedFiles: 100 }, true],
    ['few of the files came meanwhile', { freeFiles: 49, usedFiles: 25 }, false],
    ['many of the files came meanwhile', { freeFiles: 49, usedFiles: 26 }, true],
    ['1 GB is left of much', { totalBytes: 1e12, freeBytes: 1e9, usedBytes: 9e9 }, false],
    ['less than 1 GB is left of much', { totalBytes: 1e12, freeBytes: 1e9 - 1, usedBytes: 9e9 }, true],
    ['10000 files are left of many', { totalFiles: 1e9, freeFiles: 10_000, usedFiles: 9e6 }, false],
    ['less than 10000 files are left of many', { totalFiles: 1e9, freeFiles: 9_999, usedFiles: 9e6 }, true],
    ['it is another disk now', { device: 2, freeBytes: 0, usedBytes: 1_000 }, false],
  ])('is kept when %s', async (_, after, isStopped) => {
    expect(await stoppedBy({}, after)).toHaveLength(isStopped ? 1 : 0)
  })

  it('is named with what is left', async () => {
    expect(await stoppedBy({}, { freeBytes: 7, usedBytes: 993, freeFiles: 1_234 })).toEqual([
      { message: 'The command was stopped: the disk was nearly full, with 7 bytes and 1,234 files left.' },
    ])
  })
})

describe('a limit of a command', () => {
  const big = { freeBytes: 1e12, totalBytes: 1e12, freeFiles: 1e9, totalFiles: 1e9 }

  it('is passed by more than it, not by as much', async () => {
    const folder = await folderWith({ a: 'x'.repeat(5_000), b: 'x'.repeat(5_000), c: 'x' })
    const bytes = { diskBytes: 4_096, newFiles: 1e9 }
    expect(await stoppedBy(big, { ...big, usedBytes: 4_096 }, bytes, folder)).toEqual([])
    await vi.waitFor(
      async () =>
        expect(await stoppedBy(big, { ...big, usedBytes: 4_097 }, bytes, folder)).toEqual([
          {
            key: 'limits.commands.disk',
            message: 'The command was stopped: it used more than 4,096 bytes of disk space.',
          },
        ]),
      LATER,
    )
    const files = { diskBytes: 1e15, newFiles: 2 }
    expect(await stoppedBy(big, { ...big, usedFiles: 2 }, files, folder)).toEqual([])
    await vi.waitFor(
      async () =>
        expect(await stoppedBy(big, { ...big, usedFiles: 3 }, files, folder)).toEqual([
          {
            key: 'limits.commands.newFiles',
            message: 'The command was stopped: it created more than 2 files and folders.',
          },
        ]),
      LATER,
    )
  })

  it('is not passed by what others have added', async () => {
    const folder = await folderWith({ a: '' })
    expect(await stoppedBy(big, { ...big, usedBytes: 1e9 }, { diskBytes: 1e6, newFiles: 1e6 }, folder)).toEqual([])
  })
})

describe('what was added to folders', () => {
  const all = { bytes: 1e15, files: 1e9, deadlineMs: Number.POSITIVE_INFINITY }

  it('is counted with all that is below, and not what is older', async () => {
    const folder = await folderWith({ 'a/b/c': 'x', 'a/d': '', e: null })
    const query = { folders: [folder, '/no/such'], pid: undefined }
    const found = await measureGrowth({ ...query, sinceMs: 0 }, all)
    expect([found?.files, (found?.bytes ?? 0) > 0]).toEqual([5, true])
    expect(await measureGrowth({ ...query, sinceMs: Number.POSITIVE_INFINITY }, all)).toEqual({ bytes: 0, files: 0 })
  })

  it('is counted until it is over a bound', async () => {
    const folder = await folderWith({ a: '', b: '', c: '', d: '' })
    const query = { folders: [folder], sinceMs: 0, pid: undefined }
    expect(await measureGrowth(query, { ...all, files: 2 })).toMatchObject({ files: 3 })
    expect(await measureGrowth(query, { ...all, files: 4 })).toMatchObject({ files: 4 })
  })
})
