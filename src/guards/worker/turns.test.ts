import { describe, expect, it } from 'vitest'
import { Turns } from './turns.ts'

const never = new AbortController().signal

describe('turns', () => {
  it('go to those who wait, in their order', async () => {
    const turns = new Turns(1)
    const order: number[] = []
    await turns.take(never)
    const waiting = [1, 2, 3].map(async (number) => {
      await turns.take(never)
      order.push(number)
      turns.end()
    })
    turns.end()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3])
  })

  it('are had by so many at once, and by no more', async () => {
    const turns = new Turns(2)
    let inside = 0
    let most = 0
    const work = async () => {
      await turns.take(never)
      most = Math.max(most, ++inside)
      await new Promise(setImmediate)
      inside--
      turns.end()
    }
    await Promise.all([work(), work(), work(), work(), work()])
    expect(most).toBe(2)
  })

  it('pass by one who was stopped, at once', async () => {
    const turns = new Turns(1)
    await turns.take(never)
    const controller = new AbortController()
    const stopped = turns.take(controller.signal)
    const patient = turns.take(never)
    controller.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' })
    turns.end()
    await patient
  })

  it('are not lost by one who is stopped in the moment it gets its turn', async () => {
    const turns = new Turns(1)
    await turns.take(never)
    const controller = new AbortController()
    const stopped = turns.take(controller.signal)
    turns.end()
    controller.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' })
    await turns.take(never)
  })

  it('are not given to one who comes stopped', async () => {
    const turns = new Turns(1)
    await expect(turns.take(AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' })
    await turns.take(never)
  })
})
