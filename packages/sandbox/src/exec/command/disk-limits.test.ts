import { mkdtempSync, realpathSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../../core/src/context.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { type DiskLimits, type DiskOveruse, type DiskState, DiskWatch } from './disk-watch.ts'

let folder: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'disk-limits-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

const NONE = { diskBytes: 1e15, newFiles: 1e9 }
const EMPTY: DiskState = {
  device: 1,
  usedBytes: 0,
  freeBytes: 1e12,
  totalBytes: 1e12,
  usedFiles: 0,
  freeFiles: 1e7,
  totalFiles: 1e7,
}

interface WatchedOptions {
  readonly limits?: DiskLimits
  readonly disks?: readonly DiskState[]
  readonly startedMs?: number
}

/** A command that is watched on disks that are as the test says. */
async function watched({ limits = NONE, disks = [EMPTY], startedMs }: WatchedOptions = {}) {
  const clock = fakeClock()
  let now = disks
  const folders = disks.map((_, index) => (index === 0 ? folder : join(folder, `missing-${index}`)))
  const watch = new DiskWatch(folders, limits, clock, async (name) => now[folders.indexOf(name)])
  const stopped: DiskOveruse[] = []
  const leave = watch.watch({ pid: undefined, stop: (why) => stopped.push(why) }, await watch.before(), startedMs)
  const look = async (...states: readonly Partial<DiskState>[]) => {
    now = states.map((state, index) => ({ ...(disks[index] ?? EMPTY), ...state }))
    await clock.advance(250)
    // Files are measured in slices: one of these turns for each of the few files is enough.
    for (let turn = 0; turn < 100; turn++) await setImmediate()
    return stopped
  }
  return { clock, leave, look, stopped }
}

function writeFiles(count: number, name = 'f'): void {
  for (let index = 0; index < count; index++) writeFileSync(join(folder, `${name}-${index}`), '')
}

/** Writes a file; returns the space that it takes. */
function writeBytes(bytes: number, name = 'bytes'): number {
  writeFileSync(join(folder, name), Buffer.alloc(bytes, 'x'), { flush: true })
  return statSync(join(folder, name)).blocks * 512
}

describe('the reserve of a disk', () => {
  const [BYTES, FILES] = [1e9, 10_000]
  const small = { totalBytes: 1e9, totalFiles: 1e5 }
  it.each([
    { what: 'less than 1 GB is free', state: { freeBytes: BYTES - 1, usedBytes: 9e11 }, isStopped: true },
    { what: '1 GB is free', state: { freeBytes: BYTES, usedBytes: 9e11 }, isStopped: false },
    { what: 'half a reserve was used', state: { freeBytes: 0, usedBytes: BYTES / 2 }, isStopped: false },
    { what: 'more than half was used', state: { freeBytes: 0, usedBytes: BYTES / 2 + 1 }, isStopped: true },
    { what: 'less than 10,000 files are free', state: { freeFiles: FILES - 1, usedFiles: 9e6 }, isStopped: true },
    { what: '10,000 files are free', state: { freeFiles: FILES, usedFiles: 9e6 }, isStopped: false },
    { what: 'half the files were used', state: { freeFiles: 0, usedFiles: FILES / 2 }, isStopped: false },
    { what: 'more files were used', state: { freeFiles: 0, usedFiles: FILES / 2 + 1 }, isStopped: true },
    { what: 'a small disk has a 20th', state: { ...small, freeBytes: 5e7, usedBytes: 9e8 }, isStopped: false },
    { what: 'a small disk has less', state: { ...small, freeBytes: 5e7 - 1, usedBytes: 9e8 }, isStopped: true },
    { what: 'a small disk has files', state: { ...small, freeFiles: 5_000, usedFiles: 9e4 }, isStopped: false },
    { what: 'a small disk has less files', state: { ...small, freeFiles: 4_999, usedFiles: 9e4 }, isStopped: true },
    { what: 'files are not counted', state: { totalFiles: 0, freeFiles: 0, usedFiles: 9e6 }, isStopped: false },
  ])('stops a command when $what: $isStopped', async ({ state, isStopped }) => {
    const { look } = await watched()
    expect(await look(state)).toHaveLength(isStopped ? 1 : 0)
    // Once is enough.
    expect(await look(state)).toHaveLength(isStopped ? 1 : 0)
  })

  it('does not count on a disk that was not there before', async () => {
    const { look } = await watched()
    expect(await look({ device: 2, freeBytes: 0, usedBytes: 9e11 })).toEqual([])
  })

  it('names what is left, and no limit: nobody set one', async () => {
    const { look } = await watched()
    const message = 'The command was stopped: the disk was nearly full, with 1,000 bytes and 2,000 files left.'
    expect(await look({ freeBytes: 1_000, usedBytes: 9e11, freeFiles: 2_000 })).toEqual([{ message }])
  })
})

describe('a limit', () => {
  it('of space is for what the disk has grown by and the command has written, over it', async () => {
    const size = writeBytes(100_000)
    const limits = (diskBytes: number) => ({ ...NONE, diskBytes })
    const exact = await watched({ limits: limits(size) })
    expect(await exact.look({ usedBytes: 2 * size })).toEqual([])
    const less = await watched({ limits: limits(size - 1) })
    expect(await less.look({ usedBytes: size - 1 })).toEqual([])
    expect(await less.look({ usedBytes: size })).toMatchObject([{ key: 'limits.commands.disk' }])
  })

  it('of files is for what the disk has grown by and the command has made, over it', async () => {
    writeFiles(20)
    const exact = await watched({ limits: { ...NONE, newFiles: 20 } })
    expect(await exact.look({ usedFiles: 40 })).toEqual([])
    const less = await watched({ limits: { ...NONE, newFiles: 19 } })
    expect(await less.look({ usedFiles: 19 })).toEqual([])
    expect(await less.look({ usedFiles: 20 })).toMatchObject([{ key: 'limits.commands.newFiles' }])
  })

  it('counts what was added to all disks, and takes off nothing for those that shrank', async () => {
    writeFiles(20)
    const disks = [EMPTY, { ...EMPTY, device: 2, usedFiles: 100 }, { ...EMPTY, device: 3 }]
    const { look } = await watched({ limits: { ...NONE, newFiles: 15 }, disks })
    expect(await look({ usedFiles: 8 }, { usedFiles: 0 }, { usedFiles: 7 })).toEqual([])
    expect(await look({ usedFiles: 8 }, { usedFiles: 0 }, { usedFiles: 8 })).toHaveLength(1)
  })

  it('does not count what was there before the command, but for a second of slack', async () => {
    writeFiles(20)
    const limits = { ...NONE, newFiles: 10 }
    const later = await watched({ limits, startedMs: Date.now() + 3_600_000 })
    expect(await later.look({ usedFiles: 1_000 })).toEqual([])
    const { birthtimeMs } = statSync(join(folder, 'f-0'))
    const soon = await watched({ limits, startedMs: birthtimeMs + 1_000 })
    expect(await soon.look({ usedFiles: 1_000 })).toHaveLength(1)
  })
})

describe('what others have added is not measured again until', () => {
  it('half of the files that are left to the command were added', async () => {
    const { look } = await watched({ limits: { ...NONE, newFiles: 40 } })
    expect(await look({ usedFiles: 41 })).toEqual([])
    writeFiles(41)
    expect(await look({ usedFiles: 61 })).toEqual([])
    expect(await look({ usedFiles: 62 })).toHaveLength(1)
  })

  it('half of the space that is left to the command was added', async () => {
    const { look } = await watched({ limits: { ...NONE, diskBytes: 100_000 } })
    expect(await look({ usedBytes: 100_001 })).toEqual([])
    writeBytes(200_000)
    expect(await look({ usedBytes: 150_001 })).toEqual([])
    expect(await look({ usedBytes: 150_002 })).toHaveLength(1)
  })

  it('a 20th of the limit was added where hardly anything is left', async () => {
    writeFiles(39)
    const { look } = await watched({ limits: { ...NONE, newFiles: 40 } })
    expect(await look({ usedFiles: 41 })).toEqual([])
    writeFiles(2, 'more')
    expect(await look({ usedFiles: 43 })).toEqual([])
    expect(await look({ usedFiles: 44 })).toHaveLength(1)
  })

  it('a 20th of the space was added where hardly any is left', async () => {
    const size = writeBytes(100_000)
    const { look } = await watched({ limits: { ...NONE, diskBytes: size } })
    expect(await look({ usedBytes: size + 1 })).toEqual([])
    writeBytes(100_000, 'more')
    const next = size + 1 + size / 20
    expect(await look({ usedBytes: Math.floor(next) })).toEqual([])
    expect(await look({ usedBytes: Math.floor(next) + 1 })).toHaveLength(1)
  })
})

describe('watching', () => {
  it('looks four times a second as long as a command runs', async () => {
    const { clock, leave, look, stopped } = await watched()
    await clock.advance(1_000)
    expect(clock.waiting).toBe(1)
    leave()
    await look({ freeBytes: 0, usedBytes: 9e11 })
    expect([stopped, clock.waiting]).toEqual([[], 0])
  })

  it('continues after a disk could not be read', async () => {
    const clock = fakeClock()
    const read = vi.fn(async (): Promise<DiskState> => EMPTY)
    const watch = new DiskWatch([folder], NONE, clock, read)
    const stop = vi.fn()
    watch.watch({ pid: undefined, stop }, await watch.before())
    read.mockRejectedValueOnce(new Error('EIO'))
    await clock.advance(250)
    read.mockResolvedValueOnce({ ...EMPTY, freeBytes: 0, usedBytes: 9e11 })
    await clock.advance(250)
    expect(stop).toHaveBeenCalledOnce()
  })

  it('knows the disks of the machine, and leaves out folders that are not there', async () => {
    const watch = new DiskWatch([folder, join(folder, 'missing')], NONE, systemClock)
    const [[device, state], ...more] = [...(await watch.before())] as [[number, DiskState]]
    const { bsize, blocks, files } = statfsSync(folder)
    expect([device, more]).toEqual([statSync(folder).dev, []])
    expect(state).toMatchObject({ device, totalBytes: blocks * bsize, totalFiles: files })
    expect(state.usedBytes + state.freeBytes).toBeLessThanOrEqual(state.totalBytes)
    expect(state.usedFiles + state.freeFiles).toBe(state.totalFiles)
  })
})
