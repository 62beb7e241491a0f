import { execFileSync } from 'node:child_process'
import { fdatasync, writeSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ended,
  eventsOf,
  newRun,
  runsFolder,
  standingClock,
  started,
  TestDisk,
} from '../../../test/support/record-run.ts'
import { systemClock } from '../../core/context.ts'
import type { ToolError } from '../../core/errors.ts'
import type { Disk } from './append-file.ts'
import { RunRecords, type RunRecordsOptions } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options: RunRecordsOptions = { durability: 'effects', clock: systemClock }

describe('a disk that refuses', () => {
  it.each(['ENOSPC', 'EIO', 'EAGAIN', 'EROFS'])(
    'keeps the lines through %s and continues where it stopped',
    async (errno) => {
      const told: ToolError[] = []
      const disk = new TestDisk({ left: 700, errno, most: 100 })
      const records = RunRecords.open(root, newRun(), { ...options, disk, onProblem: (error) => told.push(error) })
      records.append(started('c1'))
      records.append(ended('c1'))
      await expect(records.written()).rejects.toMatchObject({ message: expect.stringContaining(errno) })
      expect(records.problem?.message).toContain(errno)
      await expect(records.synced()).rejects.toMatchObject({ message: expect.stringContaining(errno) })
      records.append(started('c2'))
      records.append(ended('c2'))
      await expect(records.written()).rejects.toMatchObject({ message: expect.stringContaining(errno) })
      expect(told).toHaveLength(1)
      disk.fixed = true
      expect(records.written()).toBeUndefined()
      expect(records.problem).toBeUndefined()
      await records.close()
      expect(await verifyRun(records.folder)).toMatchObject({ ok: true, lines: 6, calls: 2 })
    },
  )

  it('tries again by itself', () => {
    const { clock, pass } = standingClock()
    const disk = new TestDisk({ left: 500, errno: 'ENOSPC' })
    const records = RunRecords.open(root, newRun(), { ...options, clock, disk })
    records.append(started('c1'))
    records.append(ended('c1'))
    records.written()?.catch(() => {})
    disk.fixed = true
    pass(1_000)
    expect(records.problem).toBeUndefined()
  })

  it('counts what it could not keep, and the audit shows it', async () => {
    const disk = new TestDisk({ left: 500, errno: 'ENOSPC' })
    const records = RunRecords.open(root, newRun(), { ...options, disk })
    records.append(started('c0'))
    records.append(started('c1'))
    records.written()?.catch(() => {})
    const summary = 'x'.repeat(20_000)
    for (let index = 0; index < 600; index++) records.append(ended(`big${index}`, { summary }))
    disk.fixed = true
    records.written()
    records.append(ended('c1'))
    await records.close()
    const lost = (await eventsOf(records.folder)).find((event) => event.type === 'records-lost')
    expect(lost).toMatchObject({ events: expect.any(Number) })
    expect(await verifyRun(records.folder)).toMatchObject({
      ok: false,
      problems: [{ problem: expect.stringContaining('could not be kept') }],
    })
  })

  it('does not trust a disk again whose fsync has failed', async () => {
    let fails = true
    const disk: Disk = {
      write: (fd, bytes, offset) => writeSync(fd, bytes, offset),
      sync: (fd, done) => (fails ? done(Object.assign(new Error('EIO'), { code: 'EIO' })) : fdatasync(fd, done)),
    }
    const records = RunRecords.open(root, newRun(), { ...options, disk })
    records.append(started('c1'))
    await expect(records.synced()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    fails = false
    expect(records.problem).toBeDefined()
    await expect(records.close()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect(() => RunRecords.open(root, records.run, options)).not.toThrow()
  })

  it('writes nothing any more once it is closed, whatever had waited', async () => {
    const disk = new TestDisk({ left: 500 })
    const records = RunRecords.open(root, newRun(), { ...options, disk })
    records.append(started('c1'))
    await expect(records.close()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    const { writes } = disk
    disk.fixed = true
    await new Promise((resolve) => setImmediate(resolve))
    expect(records.written()).toBeUndefined()
    await expect(records.synced()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect(disk.writes).toBe(writes)
  })

  it('refuses to open a run on a full disk, and leaves no lock behind', async () => {
    const run = newRun()
    const disk = new TestDisk({ left: 0, errno: 'ENOSPC' })
    expect(() => RunRecords.open(root, run, { ...options, disk })).toThrowError(
      expect.objectContaining({ code: 'RECORDS_UNAVAILABLE' }),
    )
    expect(await readdir(join(root, run))).not.toContain('lock')
    await RunRecords.open(root, run, options).close()
  })

  it.skipIf(!canMount())('survives a file system that is really full', async () => {
    const small = await mkdtemp(join(root, 'small-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small])
    try {
      const records = RunRecords.open(small, 'full', options)
      for (let index = 0; index < 200; index++) {
        records.append(started(`c${index}`, { purpose: 'x'.repeat(300) }))
        records.append(ended(`c${index}`))
      }
      await expect(records.written()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
      await expect(records.putArtifact('x'.repeat(100_000))).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
      execFileSync('mount', ['-o', 'remount,size=4m', small])
      expect(records.written()).toBeUndefined()
      await records.close()
      expect(await verifyRun(records.folder)).toMatchObject({ ok: true, calls: 200 })
    } finally {
      // Lazily: a test that failed halfway still has its files open there.
      execFileSync('umount', ['--lazy', small])
    }
  })
})

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
