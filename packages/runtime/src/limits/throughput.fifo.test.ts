import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Fifo } from './throughput.ts'

it('behaves like an array from which anybody may leave, whatever the order', () => {
  const step = fc.oneof(fc.constant('push'), fc.constant('shift'), fc.nat({ max: 20 }))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const queue = new Fifo<number>()
      const leave: (() => void)[] = []
      let model: number[] = []
      for (const move of steps) {
        if (move === 'push') {
          model.push(leave.length)
          leave.push(queue.push(leave.length))
        } else if (move === 'shift') {
          expect(queue.shift()).toBe(model.shift())
        } else if (typeof move === 'number') {
          leave[move]?.()
          model = model.filter((value) => value !== move)
        }
        expect(queue.peek()).toBe(model[0])
      }
    }),
  )
})
