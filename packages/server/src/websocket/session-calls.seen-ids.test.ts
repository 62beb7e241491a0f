import { expect, it } from 'vitest'
import { SeenIds } from './session-calls.ts'

it('knows the answers to the latest 5,000 ids at least, and not all there ever were', () => {
  const seen = new SeenIds()
  expect(seen.find('id 0')).toBeUndefined()
  for (let index = 0; index < 10_000; index++) {
    seen.add(`id ${index}`, index)
    expect(seen.find(`id ${Math.max(0, index - 4_999)}`)).toBe(Math.max(0, index - 4_999))
  }
  expect(seen.find('id 0')).toBe(0)
  seen.add('one more', 10_000)
  expect([seen.find('id 4999'), seen.find('id 5000')]).toEqual([undefined, 5_000])
})
