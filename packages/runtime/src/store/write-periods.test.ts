import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { isAtOrBelow, timeAfter, timeBefore, WritePeriods } from './write-periods.ts'

function periodsOf(...lines: readonly (readonly [id: string, since: number, until: number, ...folders: string[]])[]) {
  const periods = new WritePeriods()
  for (const [id, since, until, ...folders] of lines) {
    periods.apply({ writing: id, since, folders, by: `hub of ${id}` })
    if (Number.isFinite(until)) periods.apply({ written: id, until })
  }
  return periods
}

describe('the periods in which commands wrote', () => {
  it.each([
    ['/a/x', 10, true],
    ['/a/x', 20, true],
    ['/a', 15, true],
    ['/a/x', 9, false],
    ['/a/x', 21, false],
    ['/ab', 15, false],
    ['/', 15, false],
  ])('cover %s as it was changed at %d: %s', (path, ctimeMs, isCovered) => {
    expect(periodsOf(['p', 10, 20, '/a']).cover(path, { ctimeMs })).toBe(isCovered)
  })

  it('are open until they end, and gone once nothing of them is left', () => {
    const periods = periodsOf(['p', 10, 20, '/a'], ['q', 15, Number.POSITIVE_INFINITY, '/b'])
    const ids = (entries: Iterable<[string, unknown]>) => [...entries].map(([id]) => id)
    expect([ids(periods.open()), ids(periods.ended()), periods.all.size]).toEqual([['q'], ['p'], 2])
    expect(periods.cover('/b/x', { ctimeMs: 1e15 })).toBe(true)
    periods.apply({ written: 'unknown', until: 30 })
    periods.apply({ unused: ['p'] })
    expect([ids(periods.open()), ids(periods.ended()), periods.all.size]).toEqual([['q'], [], 1])
  })

  it('begin earlier where the clock was set back meanwhile', () => {
    const periods = periodsOf(['p', 50, 20, '/a'])
    expect([20, 21, 19].map((ctimeMs) => periods.cover('/a', { ctimeMs }))).toEqual([true, false, false])
  })

  it('know the folders that a command wrote to, and those that hold others', () => {
    const periods = periodsOf(['p', 1, 2, '/a/b'], ['q', 1, 2, '/c'], ['r', 1, 2, '/a/b/c'])
    expect([periods.isOf('/a/b'), periods.isOf('/a'), periods.isOf('/a/b/x')]).toEqual([true, false, false])
    expect(periods.foldersAmong(['/'])).toEqual(['/a/b', '/c'])
    expect(periods.foldersAmong(['/a'])).toEqual(['/a/b'])
    expect(periods.foldersAmong(['/c/d', '/e'])).toEqual(['/c/d'])
  })

  it('are 1,000, where the two oldest become one', () => {
    const lines = Array.from({ length: 1_000 }, (_, n) => [`p${n}`, 10 * n, 10 * n + 1, `/f${n}`] as const)
    const periods = periodsOf(...lines)
    expect(periods.all.size).toBe(1_000)
    periods.apply({ writing: 'last', since: 20_000, folders: ['/f0'], by: '' })
    periods.apply({ written: 'last', until: 20_001 })
    expect(periods.all.size).toBe(1_000)
    expect([...periods.ended()][0]).toEqual(['p1', { since: 0, until: 11, folders: ['/f0', '/f1'], by: 'hub of p1' }])
  })
})

it.each([
  ['/a', '/a', true],
  ['/a/b', '/a', true],
  ['/ab', '/a', false],
  ['/a', '/a/b', false],
  ['/a', '/', true],
  ['/', '/', true],
])('%s is within %s: %s', (path, folder, within) => {
  expect(isAtOrBelow(path, folder)).toBe(within)
})

describe('a time of the file system', () => {
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
})
