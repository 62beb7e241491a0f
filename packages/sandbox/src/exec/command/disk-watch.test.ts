import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { holdingClock } from '../../../../../test/support/holding-clock.ts'
import { folderWith } from '../../../../../test/support/sandbox-spec.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { execProcess } from '../../../../runtime/src/tools/exec/exec-process.ts'
import { execRun } from '../../../../runtime/src/tools/exec/exec-run.ts'
import { type DiskOveruse, type DiskState, DiskWatch, measureGrowth } from './disk-watch.ts'

const RUN = 'core/exec.run'
const MIB = 1024 ** 2
const isRoot = process.geteuid?.() === 0
const hubWith = (commands: object, options: object = {}) =>
  fileHub({}, { tools: [execRun, execProcess], policy: [{ allow: 'exec' }], limits: { commands }, ...options })
/** A small disk for one test; only root may mount it. */
async function ownDisk(size: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'small-disk-')))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
  onTestFinished(async () => {
    execFileSync('umount', ['-l', folder])
    await rm(folder, { recursive: true })
  })
  return folder
}
/** It never ends by itself. */
const STAY = 'exec tail -f /dev/null'

describe('a command', () => {
  it('that uses more disk space than it may is stopped, and its result says so', async () => {
    const { call } = hubWith({ diskBytes: 8 * MIB })
    const line = `for i in $(seq 32); do head -c 1048576 /dev/urandom > f$i; done; ${STAY}`
    const { error, data } = await call(RUN, { command: line, timeout: 100_000 })
    expect(error).toMatchObject({
      code: 'EXEC_FAILED',
      message: 'The command was stopped: it used more than 8,388,608 bytes of disk space.',
      fix: { key: 'limits.commands.disk' },
    })
    expect(data).toMatchObject({ status: 'exited', overuse: error?.message, timedOut: false })
  })

  it('that holds what it wrote without a name is stopped as well', async () => {
    // On a shared disk, what others free hides what a command holds without a name.
    const options = isRoot ? { sandbox: { root: await ownDisk('64m') } } : {}
    const { call } = hubWith({ diskBytes: 8 * MIB }, options)
    const line = `exec 3> gone 4> lost; rm gone lost; for fd in 3 4; do head -c 12582912 /dev/urandom >&$fd; done; ${STAY}`
    const { error } = await call(RUN, { command: line, timeout: 100_000 })
    expect(error?.message).toMatch(/used more than 8,388,608 bytes/)
  })

  it('that creates more files than it may is stopped, in the background too', async () => {
    const { call } = hubWith({ newFiles: 300 })
    const line = `mkdir -p a/b; for i in $(seq 900); do : > a/b/$i; done; ${STAY}`
    const started = await call(RUN, { command: line, background: true })
    const { sessionId } = started.data as { sessionId: string }
    const polled = async () => {
      const { data } = await call('core/exec.process', { action: 'poll', sessionId, timeout: 10_000 })
      return (data as { command: { status: string; overuse?: string } }).command
    }
    await vi.waitUntil(async () => (await polled()).status === 'exited', { timeout: 100_000 })
    expect((await polled()).overuse).toBe('The command was stopped: it created more than 300 files and folders.')
  })

  it('that stays below its limits, or writes over what was there, is left alone', async () => {
    const { call } = hubWith({ diskBytes: 8 * MIB, newFiles: 300 })
    const line = 'for i in $(seq 40); do head -c 1048576 /dev/zero > same; done; for i in $(seq 100); do : > f$i; done'
    expect((await call(RUN, { command: line, timeout: 100_000 })).ok).toBe(true)
  })

  it.runIf(isRoot)('that fills a disk is stopped before it is full', async () => {
    const { call } = hubWith({}, { sandbox: { root: await ownDisk('16m') } })
    const line = `head -c 16400000 /dev/zero > filler; ${STAY}`
    const { error } = await call(RUN, { command: line, timeout: 100_000 })
    expect(error).toMatchObject({ code: 'EXEC_FAILED', message: expect.stringMatching(/the disk was nearly full/) })
  })
})

describe('a disk that others fill', () => {
  let folder: string
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'disk-watch-')))
    onTestFinished(() => rm(folder, { recursive: true }))
  })

  it('stops no command that wrote little, and stops it once it has written much', async () => {
    const disk = fakeDisk({ usedBytes: 0, usedFiles: 0 })
    const watch = new DiskWatch([folder], { diskBytes: MIB, newFiles: 100 }, systemClock, disk.read)
    const stopped: DiskOveruse[] = []
    const before = await watch.before()
    watch.watch({ pid: undefined, stop: (why) => stopped.push(why) }, before)
    await writeFile(join(folder, 'small'), 'x')
    disk.state = { usedBytes: 50 * MIB, usedFiles: 5_000 }
    await disk.reads(4)
    expect(stopped).toEqual([])
    await mkdir(join(folder, 'many'))
    await Promise.all(Array.from({ length: 120 }, (_, index) => writeFile(join(folder, 'many', String(index)), '')))
    disk.state = { usedBytes: 50 * MIB, usedFiles: 6_000 }
    await vi.waitUntil(() => stopped.length > 0, { timeout: 100_000 })
    expect(stopped).toMatchObject([{ key: 'limits.commands.newFiles' }])
  })

  it('stops those that run when hardly anything is left, and nothing that came later', async () => {
    const disk = fakeDisk({ usedBytes: 0, usedFiles: 0 })
    const watch = new DiskWatch([folder], { diskBytes: 1e15, newFiles: 1e9 }, systemClock, disk.read)
    const stopped: string[] = []
    watch.watch({ pid: undefined, stop: ({ message }) => stopped.push(`first: ${message}`) }, await watch.before())
    disk.state = { usedBytes: disk.total - MIB, usedFiles: 0 }
    const leave = watch.watch({ pid: undefined, stop: () => stopped.push('second') }, await watch.before())
    onTestFinished(() => void leave())
    await disk.reads(3)
    expect(stopped).toEqual([expect.stringMatching(/^first: .*nearly full, with 1,048,576 bytes/)])
  })
})

function fakeDisk(state: Pick<DiskState, 'usedBytes' | 'usedFiles'>) {
  const total = 1e12
  let count = 0
  const disk = {
    state,
    total,
    async read(): Promise<DiskState> {
      count += 1
      const { usedBytes, usedFiles } = disk.state
      const free = { freeBytes: total - usedBytes, freeFiles: 1e7 - usedFiles }
      return { device: 1, usedBytes, usedFiles, ...free, totalBytes: total, totalFiles: 1e7 }
    },
    /** Waits until it was looked at so often again. */
    async reads(times: number): Promise<void> {
      const wanted = count + times
      await vi.waitUntil(() => count >= wanted, { timeout: 100_000 })
    },
  }
  return disk
}

const LATER = { timeout: 100_000 }
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
