import { expect, it } from 'vitest'
import { isDeeperThan } from './definitions.ts'

it.each([
  ['text', 0, false],
  [null, 0, false],
  [[], 0, true],
  [{}, 1, false],
  [[1, null, 'a'], 1, false],
  [[1, {}], 1, true],
  [{ a: [1], b: { c: [] } }, 3, false],
  [{ a: [1], b: { c: [] } }, 2, true],
  [{ a: { b: { c: [] } }, z: 1 }, 3, true],
])('says of %j whether it is deeper than %i: %s', (value, limit, isDeeper) => {
  expect(isDeeperThan(value, limit)).toBe(isDeeper)
})

it('looks into 5,000 levels', () => {
  const deep: unknown = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000))
  expect([isDeeperThan(deep, 4_999), isDeeperThan(deep, 5_000)]).toEqual([true, false])
})
