import { expect, it } from 'vitest'
import { turnFor } from './async.ts'

it('goes on immediately with small values', () => {
  expect(turnFor(1_000)).toBeUndefined()
})

it('starts one large piece of work in a turn of the event loop, in order', async () => {
  const turns: [string, number][] = []
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(['a', 'b', 'c'].map((name) => turnFor(1_000_000)!.then(() => turns.push([name, turn]))))
  isOver = true
  expect(turns.map(([name]) => name)).toEqual(['a', 'b', 'c'])
  expect(new Set(turns.map(([, at]) => at)).size).toBe(3)
})
