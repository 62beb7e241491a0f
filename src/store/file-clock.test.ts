import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { timeAfter, timeBefore } from './file-clock.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

it('is not after what is written next, and not before what was written last', () => {
  const folder = temporaryFolder('file-clock')
  const before = timeBefore([folder])
  writeFileSync(join(folder, 'a'), '')
  const { ctimeMs } = statSync(join(folder, 'a'))
  expect(before).toBeLessThanOrEqual(ctimeMs)
  expect(timeAfter([folder])).toBeGreaterThanOrEqual(ctimeMs)
})

it('is what the file system says, unless the clock is earlier', () => {
  const folder = temporaryFolder('file-clock')
  writeFileSync(join(folder, 'a'), '')
  const { ctimeMs } = statSync(join(folder, 'a'))
  vi.spyOn(Date, 'now').mockReturnValue(5_000)
  expect(timeBefore([folder])).toBe(5_000)
  expect(timeAfter([folder, '/nowhere'])).toBeGreaterThanOrEqual(ctimeMs)
})

it.each([[['/nowhere']], [[]], [['/nowhere', '/nowhere/else']]])(
  'is the clock with a second to spare where the file system cannot be asked: %j',
  (folders) => {
    vi.spyOn(Date, 'now').mockReturnValue(5_000)
    expect([timeBefore(folders), timeAfter(folders)]).toEqual([4_000, 6_000])
  },
)
