import { execFileSync } from 'node:child_process'
import { fdatasync, writeSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolError } from '@tool-hub/core/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ended,
  eventsOf,
  newRun,
  runsFolder,
  standingClock,
  started,
  TestDisk,
} from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
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

  describe('whose fsync failed', () => {
    /** A run whose last lines could not be made durable, on a disk that works again. */
    async function lostSync() {
      let fails = false
      let syncs = 0
      const disk: Disk = {
        write: (fd, bytes, offset) => writeSync(fd, bytes, offset),
        sync(fd, done) {
          syncs++
          if (fails) done(Object.assign(new Error('EIO'), { code: 'EIO' }))
          else fdatasync(fd, done)
        },
      }
      const records = RunRecords.open(root, newRun(), { ...options, disk })
      records.append(started('c1'))
      await records.synced()
      records.append(started('c2'))
      fails = true
      await expect(records.synced()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
      await expect(records.retrySync()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
      fails = false
      return { records, path: join(root, records.run, 'events.jsonl'), syncs: () => syncs }
    }

    it('is refused until its lines were written and synced once more, and then works again', async () => {
      const { records, syncs } = await lostSync()
      expect(records.problem).toBeDefined()
      const before = syncs()
      await records.retrySync()
      expect(syncs()).toBe(before + 1)
      expect(records.problem).toBeUndefined()
      expect(records.retrySync()).toBeUndefined()
      records.append(ended('c2'))
      await records.synced()
      await records.close()
      expect(await verifyRun(records.folder)).toMatchObject({ state: 'intact', problems: [], calls: 2 })
    })

    it('works again at the end of a run', async () => {
      const { records } = await lostSync()
      records.append(ended('c1'))
      await records.close()
      expect(await verifyRun(records.folder)).toMatchObject({ state: 'intact', problems: [] })
    })

    it.each<[string, (content: Buffer) => Buffer]>([
      ['dropped what it could not store', (content) => content.fill(0, content.length - 200, content.length - 1)],
      ['dropped a whole line', (content) => content.fill(0, content.lastIndexOf(10, -2) + 1)],
      ['cut the file', (content) => content.subarray(0, -100)],
      ['changed a line', (content) => Buffer.from(content.toString().replace('"c2"', '"c3"'))],
    ])('stays refused if the system has %s', async (_, change) => {
      const { records, path } = await lostSync()
      await writeFile(path, change(await readFile(path)))
      await expect(records.retrySync()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
      expect(records.problem).toBeDefined()
      await expect(records.close()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    })

    it('stays refused if another file is in its place', async () => {
      const { records, path } = await lostSync()
      const content = await readFile(path)
      await rm(path)
      await writeFile(path, content, { mode: 0o600 })
      await expect(records.retrySync()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
      await expect(records.close()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    })
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
