import { expect, it } from 'vitest'
import { createQueueByKey } from './queue-by-key.ts'

it('runs jobs of one key in order, also after one that failed', async () => {
  const queue = createQueueByKey()
  const order: string[] = []
  const job =
    (name: string, fails = false) =>
    async () => {
      order.push(`${name} starts`)
      await new Promise(setImmediate)
      order.push(`${name} ends`)
      if (fails) throw new Error(name)
    }
  const results = await Promise.allSettled([queue('a', job('one', true)), queue('a', job('two'))])
  expect(order).toEqual(['one starts', 'one ends', 'two starts', 'two ends'])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

it('does not let one key wait for another', async () => {
  const queue = createQueueByKey()
  let release = () => {}
  const first = queue(
    'a',
    () =>
      new Promise<void>((resolve) => {
        release = resolve
      }),
  )
  await queue('b', async () => {})
  release()
  await first
})
