import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { waitUntil } from './command-input.ts'

/** Something to wait for, and whether anybody still does. */
function something() {
  let done = () => {}
  let watchers = 0
  const watch = (call: () => void) => {
    done = call
    watchers += 1
    return () => {
      watchers -= 1
    }
  }
  return { watch, happen: () => done(), watchers: () => watchers }
}

it('is true when it happened, false when the time was over, and leaves nothing behind', async () => {
  const clock = fakeClock()
  const { watch, happen, watchers } = something()
  const waiting = waitUntil(watch, { withinMs: 10 }, clock)
  expect([watchers(), clock.waiting]).toEqual([1, 1])
  happen()
  expect([await waiting, watchers(), clock.waiting]).toEqual([true, 0, 0])
  const late = waitUntil(watch, { withinMs: 10 }, clock)
  await clock.advance(9)
  expect(watchers()).toBe(1)
  await clock.advance(1)
  expect([await late, watchers(), clock.waiting]).toEqual([false, 0, 0])
  const none = waitUntil(watch, { withinMs: -5 }, clock)
  await clock.advance(0)
  expect(await none).toBe(false)
})

it('sets no timer where no time is given', async () => {
  const clock = fakeClock()
  const { watch, happen } = something()
  const waiting = waitUntil(watch, {}, clock)
  expect(clock.waiting).toBe(0)
  happen()
  expect(await waiting).toBe(true)
})

it('fails with the reason of the pipeline, or as a call that was stopped', async () => {
  const clock = fakeClock()
  const { watch, watchers } = something()
  const stopping = new AbortController()
  const waiting = waitUntil(watch, { withinMs: 10, signal: stopping.signal }, clock)
  stopping.abort(new ToolError('TIMEOUT', 'too late'))
  await expect(waiting).rejects.toMatchObject({ code: 'TIMEOUT' })
  expect([watchers(), clock.waiting]).toEqual([0, 0])
  const other = new AbortController()
  const stopped = waitUntil(watch, { signal: other.signal }, clock)
  other.abort('why')
  await expect(stopped).rejects.toMatchObject({ code: 'ABORTED', message: 'The call was stopped.', cause: 'why' })
  await expect(waitUntil(watch, { signal: other.signal }, clock)).rejects.toMatchObject({ code: 'ABORTED' })
  expect(watchers()).toBe(0)
})
