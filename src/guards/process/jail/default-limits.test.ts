import { expect, it } from 'vitest'
import { programLimits } from '../program/program-limits.ts'
import { DEFAULT_LIMITS } from './default-limits.ts'

it('bounds a command for which the owner says nothing as the documentation says', () => {
  expect(DEFAULT_LIMITS).toEqual({
    cpuMs: 600_000,
    memoryBytes: 2_000_000_000,
    processes: 256,
    fileBytes: 1_000_000_000,
    openFiles: 1_024,
    diskBytes: 10_000_000_000,
    newFiles: 500_000,
    outputBytes: 1_000_000_000,
  })
})

it('bounds a program in the same way, but for its processor time', () => {
  const defaults = { memoryBytes: 2_000_000_000, processes: 256, fileBytes: 1_000_000_000, openFiles: 1_024 }
  expect(programLimits({})).toEqual({ cpuSeconds: Infinity, ...defaults })
  const own = { memoryBytes: 1, processes: 2, fileBytes: 3, openFiles: 4 }
  expect(programLimits({ ...own, cpuMs: 5 })).toEqual({ cpuSeconds: Infinity, ...own })
})
