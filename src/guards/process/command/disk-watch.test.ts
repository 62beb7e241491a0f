import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fileHub } from '../../../../test/support/file-hub.ts'
import { systemClock } from '../../../clock.ts'
import { execProcess } from '../../../tools/exec/exec-process.ts'
import { execRun } from '../../../tools/exec/exec-run.ts'
import { type DiskOveruse, type DiskState, DiskWatch } from './disk-watch.ts'

vi.setConfig({ testTimeout: 120_000 })
const RUN = 'core/exec.run'
const MIB = 1024 ** 2
const isRoot = process.geteuid?.() === 0
const hubWith = (commands: object, options: object = {}) =>
  fileHub({}, { tools: [execRun, execProcess], policy: [{ allow: 'exec' }], limits: { commands }, ...options })
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
    const { call } = hubWith({ diskBytes: 8 * MIB })
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
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'small-disk-')))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder])
    onTestFinished(async () => {
      execFileSync('umount', ['-l', folder])
      await rm(folder, { recursive: true })
    })
    const { call } = hubWith({}, { sandbox: { root: folder } })
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
    await vi.waitUntil(() => stopped.length > 0, { timeout: 60_000 })
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
      await vi.waitUntil(() => count >= wanted, { timeout: 60_000 })
    },
  }
  return disk
}
