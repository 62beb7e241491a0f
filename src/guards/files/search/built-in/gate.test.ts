import { expect, it } from 'vitest'
import { createGate } from './gate.ts'

const never = new AbortController().signal

it('lets so many in at once, in order, and goes on after a failure', async () => {
  const enter = createGate(2)
  let inside = 0
  let most = 0
  const order: number[] = []
  const work = (index: number) => async () => {
    inside += 1
    most = Math.max(most, inside)
    order.push(index)
    await new Promise(setImmediate)
    inside -= 1
    if (index === 1) throw new Error('one fails')
  }
  const outcomes = await Promise.allSettled([0, 1, 2, 3, 4].map((index) => enter(work(index), never)))
  expect(most).toBe(2)
  expect(order).toEqual([0, 1, 2, 3, 4])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
})

it('lets go of one that is aborted while it waits, and gives its place to nobody twice', async () => {
  const enter = createGate(1)
  let release = () => {}
  const first = new Promise<void>((resolve) => {
    release = resolve
  })
  const running = enter(() => first, never)
  const controller = new AbortController()
  const waiting = enter(async () => 'never', controller.signal)
  const behind = enter(async () => 'behind', never)
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
  release()
  await running
  expect(await behind).toBe('behind')
  expect(await enter(async () => 'later', never)).toBe('later')
})
