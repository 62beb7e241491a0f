import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { holdingClock } from '../../../../../test/support/holding-clock.ts'
import { DeadlineWatch, RequestDeadline } from './deadline.ts'

const NEVER = new AbortController().signal
const reasonOf = (deadline: RequestDeadline) => {
  try {
    deadline.check()
    return undefined
  } catch (reason) {
    return (reason as Error).message
  }
}

function setUp() {
  const clock = holdingClock()
  const watch = new DeadlineWatch(clock)
  const deadline = (timeoutMs: number, signal = NEVER) =>
    new RequestDeadline(watch, { signal: () => signal }, timeoutMs)
  return { clock, watch, deadline }
}

describe('a deadline', () => {
  it('is over at its moment, and says how long it was', async () => {
    const { clock, deadline } = setUp()
    const first = deadline(10)
    expect([first.leftMs, reasonOf(first)]).toEqual([10, undefined])
    await clock.advance(9)
    expect([first.leftMs, reasonOf(first)]).toEqual([1, undefined])
    await clock.advance(1)
    expect([first.leftMs, reasonOf(first)]).toEqual([0, 'The request did not finish in 10 ms.'])
    expect(() => first.check()).toThrow(expect.objectContaining({ code: 'HTTP_TIMEOUT' }))
  })

  it('stops what is done just now, once, and what comes after it', async () => {
    const { clock, deadline } = setUp()
    const one = deadline(10)
    const stopped: string[] = []
    one.during(() => stopped.push('before'))
    one.during(() => stopped.push('now'))
    await clock.advance(50)
    expect(stopped).toEqual(['now'])
    one.during(() => stopped.push('after'))
    expect(stopped).toEqual(['now', 'after'])
    await expect(one.wait(Promise.resolve(1))).rejects.toMatchObject({ code: 'HTTP_TIMEOUT' })
  })

  it('stops nothing once its request has ended', async () => {
    const { clock, deadline } = setUp()
    const one = deadline(10)
    const stopped: string[] = []
    one.during(() => stopped.push('x'))
    one.stop()
    await clock.advance(50)
    expect([stopped, reasonOf(one)]).toEqual([[], undefined])
  })

  it('is over when the call is stopped, with its reason, also before it began', async () => {
    const { deadline } = setUp()
    const stopping = new AbortController()
    const one = deadline(10, stopping.signal)
    const waiting = one.wait(new Promise(() => {}))
    stopping.abort(new ToolError('TIMEOUT', 'the call is over'))
    await expect(waiting).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(reasonOf(one)).toBe('the call is over')
    expect(reasonOf(deadline(10, stopping.signal))).toBe('the call is over')
  })

  it('waits and pauses no longer than it may', async () => {
    const { clock, deadline } = setUp()
    expect(await deadline(10).wait(Promise.resolve('there'))).toBe('there')
    await expect(deadline(10).wait(Promise.reject(new Error('own')))).rejects.toThrow('own')
    const pausing = deadline(10).pause(5, clock)
    await clock.advance(5)
    await pausing
    const late = deadline(10).pause(20, clock)
    late.catch(() => {})
    const before = clock.waiting
    await clock.advance(10)
    await expect(late).rejects.toMatchObject({ code: 'HTTP_TIMEOUT' })
    expect(clock.waiting).toBeLessThan(before)
  })
})

describe('the watch of all deadlines', () => {
  it('has one timer, for the first of them, that keeps no process alive', async () => {
    const { clock, deadline } = setUp()
    const slow = deadline(100)
    const quick = deadline(10)
    const middle = deadline(50)
    expect([clock.waiting, clock.holding]).toEqual([1, 0])
    await clock.advance(10)
    expect([reasonOf(quick) !== undefined, reasonOf(middle), clock.waiting]).toEqual([true, undefined, 1])
    await clock.advance(40)
    expect([reasonOf(middle) !== undefined, reasonOf(slow)]).toEqual([true, undefined])
    await clock.advance(50)
    expect([reasonOf(slow) !== undefined, clock.waiting]).toEqual([true, 0])
  })

  it('still ends the others when some were removed, in any order and more than once', async () => {
    const { clock, deadline } = setUp()
    const all = [10, 20, 30, 40].map((ms) => deadline(ms))
    for (const index of [0, 2, 2, 0]) all[index]!.stop()
    const later = deadline(15)
    await clock.advance(40)
    expect(all.map((each) => reasonOf(each) !== undefined)).toEqual([false, true, false, true])
    expect(reasonOf(later)).toBe('The request did not finish in 15 ms.')
  })

  it('has none after those that were removed, and none when it is closed', async () => {
    const { clock, watch, deadline } = setUp()
    deadline(10).stop()
    await clock.advance(10)
    expect(clock.waiting).toBe(0)
    const one = deadline(10)
    expect(clock.waiting).toBe(1)
    watch.close()
    await clock.advance(20)
    expect([clock.waiting, reasonOf(one)]).toEqual([0, undefined])
  })
})
