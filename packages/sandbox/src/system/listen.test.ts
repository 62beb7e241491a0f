import { expect, it } from 'vitest'
import { connectionLimit } from './listen.ts'

it('leaves half of the descriptors to everything else', () => {
  expect(connectionLimit(undefined, 256)).toBe(128)
  expect(connectionLimit(undefined, 1_025)).toBe(512)
})

it('takes at most 10,000 connections unless the owner wants more', () => {
  expect(connectionLimit(undefined, 1_048_576)).toBe(10_000)
  expect(connectionLimit(undefined, Number.POSITIVE_INFINITY)).toBe(10_000)
  expect(connectionLimit(50_000, 1_048_576)).toBe(50_000)
})

it('refuses more connections than there are descriptors beside the reserved ones', () => {
  expect(connectionLimit(896, 1_024)).toBe(896)
  expect(() => connectionLimit(897, 1_024)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      fix: expect.objectContaining({ key: 'service.maxConnections', hint: expect.stringContaining('at most 896') }),
    }),
  )
})

it('refuses to start with fewer than 256 descriptors, and says how to raise the limit', () => {
  expect(() => connectionLimit(undefined, 255)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: 'This process may open 255 files and connections; the service needs at least 256.',
      fix: expect.objectContaining({ hint: expect.stringContaining('ulimit -n 4096') }),
    }),
  )
})
