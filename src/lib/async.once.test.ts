import { expect, it } from 'vitest'
import { once } from './async.ts'

it('does the work for the first who needs it, and shares it with all others', async () => {
  let count = 0
  const work = once(async () => ++count)
  expect(await Promise.all([work(), work()])).toEqual([1, 1])
  expect(await work()).toBe(1)
})

it('tells a failure to those who wait, and tries again for the next', async () => {
  let count = 0
  const work = once(async () => {
    count++
    if (count === 1) throw new Error('not yet')
    return count
  })
  const both = await Promise.allSettled([work(), work()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await work()).toBe(2)
})
