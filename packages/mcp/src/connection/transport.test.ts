import { expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { waitUnlessAborted } from './transport.ts'

it('waits as long as configured, and holds up no process', async () => {
  const clock = fakeClock()
  const stop = new AbortController()
  const inBackground: (boolean | undefined)[] = []
  const after: typeof clock.after = (ms, callback, options) => {
    inBackground.push(options?.background)
    return clock.after(ms, callback)
  }
  let isOver = false
  const waiting = waitUnlessAborted(100, { ...clock, after }, stop.signal).then(() => (isOver = true))
  await clock.advance(99)
  expect(isOver).toBe(false)
  await clock.advance(1)
  expect(await waiting).toBe(true)
  expect(inBackground).toEqual([true])
  stop.abort()
})

it('rejects with the reason when it is stopped, also before it began', async () => {
  const clock = fakeClock()
  const stop = new AbortController()
  const reason = new Error('stopped')
  const waiting = waitUnlessAborted(100, clock, stop.signal)
  stop.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(waitUnlessAborted(100, clock, stop.signal)).rejects.toBe(reason)
  expect(clock.waiting).toBe(0)
})
