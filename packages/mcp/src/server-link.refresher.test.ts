import { expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../testing/src/fake-clock.ts'
import { Refresher } from './server-link.ts'

function setUp() {
  const clock = fakeClock()
  const inBackground: (boolean | undefined)[] = []
  const after: FakeClock['after'] = (ms, callback, options) => {
    inBackground.push(options?.background)
    return clock.after(ms, callback)
  }
  let runs = 0
  let finish: (() => void) | undefined
  const work = () => {
    runs++
    return new Promise<void>((resolve) => (finish = resolve))
  }
  const refresher = new Refresher({ now: clock.now, after }, work)
  return { refresher, clock, inBackground, runs: () => runs, finish: () => finish?.() }
}

it('makes one of the changes that come together', async () => {
  const { refresher, clock, runs } = setUp()
  for (let n = 0; n < 3; n++) refresher.soon()
  await clock.advance(199)
  expect(runs()).toBe(0)
  await clock.advance(1)
  expect([runs(), clock.waiting]).toEqual([1, 0])
})

it('rests before it does again what was wanted while it was at it', async () => {
  const { refresher, clock, runs, finish } = setUp()
  void refresher.now()
  refresher.soon()
  finish()
  await clock.advance(999)
  expect(runs()).toBe(1)
  await clock.advance(1)
  expect(runs()).toBe(2)
  finish()
  await clock.advance(60_000)
  expect(runs()).toBe(2)
})

it('waits as long as configured, unless it is stopped', async () => {
  const { refresher, clock, runs, finish } = setUp()
  const stopped = new AbortController()
  const done = Promise.all([refresher.after(50, stopped.signal), refresher.after(500, AbortSignal.abort())])
  stopped.abort()
  await done
  expect([runs(), clock.waiting]).toEqual([0, 0])
  const later = refresher.after(50, new AbortController().signal)
  await clock.advance(50)
  expect(runs()).toBe(1)
  finish()
  await later
})

it('does nothing more once it is closed', async () => {
  const { refresher, clock, runs } = setUp()
  refresher.soon()
  refresher.close()
  refresher.soon()
  await clock.advance(60_000)
  expect(runs()).toBe(0)
})

it('keeps no process alive while it waits', () => {
  const { refresher, inBackground } = setUp()
  refresher.soon()
  void refresher.after(50, new AbortController().signal)
  expect(inBackground).toEqual([true, true])
})

it('does once what several ask for at the same time, and again after it', async () => {
  const { refresher, runs, finish } = setUp()
  const [one, two] = [refresher.now(), refresher.now()]
  expect([runs(), one]).toEqual([1, two])
  finish()
  await one
  const again = refresher.now()
  expect(runs()).toBe(2)
  finish()
  await again
})

it('tells who asked that it failed, and tries again with the next change', async () => {
  const clock = fakeClock()
  let runs = 0
  const refresher = new Refresher(clock, () => {
    runs++
    return Promise.reject(new Error('no'))
  })
  await expect(refresher.now()).rejects.toThrow('no')
  await refresher.after(0, AbortSignal.abort())
  const after = refresher.after(50, new AbortController().signal)
  await clock.advance(50)
  await after
  refresher.soon()
  await clock.advance(200)
  expect([runs, clock.waiting]).toEqual([3, 0])
})

it('is closed while it works', async () => {
  const { refresher, clock, runs, finish } = setUp()
  const working = refresher.now()
  refresher.soon()
  refresher.close()
  finish()
  await working
  await clock.advance(60_000)
  expect(runs()).toBe(1)
})

it('is not stopped any more once its time has come', async () => {
  const { refresher, clock, runs, finish } = setUp()
  const stop = new AbortController()
  let isDone = false
  const waiting = refresher.after(50, stop.signal).then(() => (isDone = true))
  await clock.advance(50)
  stop.abort()
  await clock.advance(0)
  expect([runs(), isDone]).toEqual([1, false])
  finish()
  await waiting
})
